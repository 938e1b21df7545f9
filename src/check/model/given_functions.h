// Functions that are given a function: a copy for each one that they are given.
//
// What `walk(list, release)` does to the list depends on `release`, and a summary of walk()
// that holds for every function says nothing of it. Where a call passes a function by its
// name for a parameter that the callee calls, or hands on to one that does, the call gets a
// copy of the callee in which the parameter is that function. A copy is a function like any
// other from then on: it comes behind what it calls, has a summary, is kept in the cache,
// and a finding in it names the original.
//
// Only parameters that nothing else is stored to are taken for what was passed. The size
// and the number of copies are limited; what lies beyond stays a call through a pointer.
#pragma once

#include "check/model/program.h"

namespace plumb::check {

struct CopyLimits {
  std::size_t operations = 2000;  // of a function that is copied
  unsigned copies = 16;           // of one function
  std::size_t all = 20000;        // operations of all copies, and as many as the program has
};

void copy_for_given_functions(Program& program, const CopyLimits& limits = {});

}  // namespace plumb::check
