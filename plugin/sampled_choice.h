// What is worth a check or a record when accesses are sampled.
#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace plumb::pass {

// The address through which the instruction may reach a heap block; null when it
// accesses no memory, or provably the stack or a variable.
llvm::Value* heap_address(llvm::Instruction& instruction);

// Can this function have a tracing version, and is there anything to trace?
bool can_be_traced(llvm::Function& function);

// May this loop go on for long, so that a burst has to be able to end in it? Not the
// innermost ones that call nothing.
bool is_long(const llvm::Loop& loop);

// Does a burst have to be able to begin in this loop?
bool needs_check(const llvm::Loop& loop);

// Small functions without loops and calls: whoever calls them is checked.
bool needs_entry_check(llvm::Function& function, const llvm::LoopInfo& loops);

}  // namespace plumb::pass
