// Adaptive bursty tracing: each function has a second version that reports its
// accesses, in a cold section, and checks that decide which of the two runs.
//
// Representation. A check is a count in memory (of each thread, in an executable)
// that is decremented; below zero a cold function asks the runtime whether a burst
// begins (sampled_ask.h).
// Checks stand at the entry of a function and at the head of its outermost loops
// (where sampled_choice.h wants them). The tracing version is one function for all
// of them: it takes the number of the place to go on at (0: the entry) and a frame
// in memory with what is alive there, and runs until it is over (0, with the result
// in the frame) or until the burst is, at the head of an outermost loop: it then
// puts what is alive there into the frame and returns the loop's number, and the
// function goes on from there by itself.
//
// Invariants. The hot version's loops keep one entry: whoever comes back from
// outside of a loop lands before it, whoever comes back from within is one more
// latch. Variables in memory are in the frame, where both versions have them. Labels are those of
// the function in both, so that a computed goto means the same.
//
// A function without long loops is traced whole or not at all: its tracing version has
// the same type, and the hot one grows by a test and a jump.
//
// When a burst ends elsewhere, as in an inner loop, the tracing version goes on in its
// plain half (sampled_halves.h) up to one of these ends.
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
