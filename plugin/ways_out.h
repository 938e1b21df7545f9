// How control came to the end of a scope.
//
// The front end lets all ways out of a scope (returns, breaks, exceptions, the
// closing brace) meet in one block, where the scope's variables end. Which of
// them was taken is what a reader wants to know. It is kept in a variable of the
// function, a number that each way in sets and the meeting reads; the optimiser
// turns it into nothing or into a register.
//
// Exceptions: the number is set before each call that may throw; the place is
// that call.
// Numbers are given meeting by meeting, so that those that can arrive at a block
// lie close together: a block's row of places is from the least to the largest.
// Limit: where that is more than kMaxWays, the end of the scope itself, or the
// landing pad, is the place.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"

namespace plumb::pass {

class WaysOut {
 public:
  // Looks at the function as it is, landing pads included, and changes nothing
  // but the variable.
  explicit WaysOut(llvm::Function& function);

  // The places of all ways to `end`; empty when it is its own place.
  std::vector<const llvm::DILocation*> places_at(const llvm::Instruction& end) const;
  // For each of them, where in the function it begins.
  std::vector<llvm::SmallVector<const llvm::Instruction*, 2>> origins_at(
      const llvm::Instruction& end) const;
  // Which of them was taken, as an index.
  llvm::Value* way(llvm::IRBuilder<>& builder, const llvm::Instruction& end) const;

  // Only reached by exceptions that nobody caught on the way?
  bool is_unwinding(const llvm::Instruction& at) const;

 private:
  bool is_unwinding(const llvm::BasicBlock& block) const { return unwinding_.contains(&block); }
  void find_unwinding();
  void find_leaving_marks();
  bool is_meeting(const llvm::BasicBlock& block) const;
  const llvm::DILocation* leaving(const llvm::BasicBlock& block) const;
  // Numbers that can arrive at a block.
  struct Arriving {
    unsigned least = ~0U;
    unsigned most = 0;
    bool any() const { return least <= most; }
    bool add(const Arriving& other);
  };
  void set_ways();
  void spread();
  // On the way from `before`, in or to `block`.
  void set(llvm::Instruction* before, const llvm::DILocation* place, const llvm::BasicBlock& block,
           unsigned first);
  const Arriving* arriving_at(const llvm::Instruction& end) const;

  llvm::Function& function_;
  llvm::DenseSet<const llvm::BasicBlock*> unwinding_;
  // Slots of the front end's own that say where to go after a meeting.
  llvm::DenseSet<const llvm::AllocaInst*> destinations_;
  std::vector<const llvm::DILocation*> places_;
  llvm::DenseMap<const llvm::BasicBlock*, Arriving> arriving_;
  std::vector<std::pair<llvm::Instruction*, unsigned>> settings_;
  llvm::AllocaInst* taken_ = nullptr;
};

}  // namespace plumb::pass
