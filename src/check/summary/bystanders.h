// What calls through pointers leave alone.
//
// Which function such a call leads to is often not known. But when each function of that
// type whose address is taken only looks at what a parameter points to, the call does, too,
// whichever it is: a hash of a key, a comparison, a printer. Found for all types at once
// before any summary is made, by following what is derived from a parameter through each of
// these functions and those that they call.
//
// A virtual call leads to one of the functions that the classes of the program have there, so
// what all of those leave alone, it does. Of these it is known, too, what they change but
// neither keep nor free: what hangs on it may be gone then, itself it stays with the caller.
// Of functions of a type that is known if they do not write to it either: a hash of what a key
// refers to may do anything with that, but not with the key.
//
// Limits: by the type as the machine has it, so that one function that keeps a pointer
// spoils it for all of its type; a function that another program would pass is not known,
// so that in a library what returns nothing is trusted with nothing.
#pragma once

#include <cstdint>

#include "check/model/program.h"
#include "check/summary/library.h"

namespace plumb::check {

CallsThroughPointers find_bystanders(const Program& program, const Library& library);

}  // namespace plumb::check
