// Which references are only borrowed: read from memory that still has them when
// they go, so that nothing is lost by it.
//
// A value is followed through phis and pointer arithmetic to the loads it came
// from. For each, no store and no call between the load and the mark may write to
// the place; LLVM's alias analysis answers that, with two liberties that C leaves
// and programs do not take: a store of less than a pointer's size does not change
// half of a pointer, and a store without a type of its own (a union, copied) goes
// to a union. What is wrong by them makes a place too early, never a false alarm.
//
// Invariant: a load counts only if it is not in a cycle with a phi on the way, so
// that its address means the same at the mark as it did at the load.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace plumb::pass {

class Borrow {
 public:
  Borrow(llvm::Function& function, llvm::MemorySSA& memory, llvm::AAResults& aliases);

  // The memory that the mark's value was read from still has it there.
  bool is_borrowed(llvm::CallInst& mark);
  // It is so on some of the ways that meet at the mark; `others` are the rest, at
  // the end of which the mark can be instead.
  bool is_borrowed_on_some_way(llvm::CallInst& mark, std::vector<llvm::BasicBlock*>& others);
  // The mark is of a variable whose new value was computed from its old one.
  static bool moves_within(llvm::CallInst& mark);

 private:
  bool is_borrowed_at(llvm::Value* value, llvm::MemoryAccess* before);
  bool is_unwritten(const llvm::LoadInst& load, llvm::MemoryAccess* before);
  bool may_overwrite(llvm::Instruction& writer, const llvm::LoadInst& load);
  bool in_cycle_with(const llvm::BasicBlock* one, const llvm::BasicBlock* other) const;
  llvm::MemoryAccess* last_access(llvm::BasicBlock* block);

  llvm::Function& function_;
  llvm::MemorySSA& memory_;
  llvm::AAResults& aliases_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> cycles_;  // 0, or the cycle's number
};

}  // namespace plumb::pass
