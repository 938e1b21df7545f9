// Adaptive bursty tracing: each function has a second version that reports its
// accesses, in a cold section, and checks that decide which of the two runs.
//
// Representation. A check is a count in memory (of each thread, in an executable)
// that is decremented; below zero a cold function asks the runtime whether a burst
// begins (sampled_ask.h). Checks stand at the entry of a function and at the head of its
// largest long loop (sampled_choice.h). The tracing version is one function for both: it
// takes the number of the place to go on at (0: the entry) and a frame in memory with
// what is alive there.
//
// Nobody comes back from it: when a burst is over, the rest of the function runs in the
// plain half of the tracing version (sampled_halves.h), which has the loop's check as
// well, so that the next burst can begin there. So the hot version only grows by a test,
// and cold code that leaves it.
//
// Invariants. Variables in memory are in the frame, where both versions have them.
// Labels are those of the function in both, so that a computed goto means the same.
//
// A function without such a loop is traced whole or not at all: its tracing version has
// the same type.
//
// Limits: functions that cannot be copied (variable arguments, setjmp, musttail, asm
// goto) are not traced.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"

namespace plumb::pass {

struct Check {
  llvm::GlobalVariable* left = nullptr;   // executions until it runs out
  llvm::GlobalVariable* level = nullptr;  // how far its rate has fallen
};
Check make_check(llvm::Module& module);

// The checks at the entries of functions that have one.
using EntryChecks = llvm::DenseMap<llvm::Function*, Check>;

struct Version {
  llvm::Function* function = nullptr;
  llvm::Function* traced = nullptr;
  bool is_whole = false;  // of the same type
  std::vector<llvm::WeakTrackingVH> unchecked_calls;
};

// Gives the function its tracing version and its checks.
Version make_twin(llvm::Function& function, const EntryChecks& entries);

// Tracing versions call those of functions that have no check of their own.
void call_versions(llvm::ArrayRef<Version> versions, const EntryChecks& entries);

}  // namespace plumb::pass
