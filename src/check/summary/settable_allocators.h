// Allocators that a library lets its users set are taken for what they are at first.
//
// `xmlMalloc` is a global that has malloc() at first, `session->alloc` a member that has a
// wrapper of it unless the user passed another. Whatever is set must do the same, so calls
// through such a place become calls of the function that the program itself puts there.
//
// Places are globals, by their first value, or, when they have none, by all functions that are
// stored there or in that member of their structure; members of structures with a name, and
// variables of a function, by all functions that are stored there. Only what allocates or
// frees and does nothing else with what it is given is taken: any other function that users
// can set may do something else with it.
#pragma once

#include "check/model/program.h"
#include "check/summary/library.h"

namespace plumb::check {

void call_first_allocators(Program& program, const Library& library);

}  // namespace plumb::check
