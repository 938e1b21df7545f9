// How control came to the end of a scope.
//
// The front end lets all ways out of a scope (returns, breaks, exceptions, the
// closing brace) meet in one block, where the scope's variables end. Which of
// them was taken is what a reader wants to know. It is kept in a variable that
// the optimiser turns into nothing or a register: set on each way in, read where
// the ways have met.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"

namespace plumb::pass {

class WaysOut {
 public:
  // The places of all ways to this end of a scope; one when there is one only.
  std::vector<const llvm::DILocation*> places(const llvm::Instruction& end);
  // Which of them was taken, as an index.
  llvm::Value* way(llvm::IRBuilder<>& builder, const llvm::Instruction& end);

  // On the way of an exception?
  bool is_unwinding(const llvm::BasicBlock& block);

 private:
  struct Meeting {
    std::vector<const llvm::DILocation*> places;
    std::vector<std::pair<llvm::BasicBlock*, unsigned>> ways;
    llvm::Value* taken = nullptr;  // i32, where the ways meet
  };
  Meeting& meeting_at(llvm::BasicBlock& block);

  llvm::DenseMap<const llvm::BasicBlock*, Meeting> meetings_;
};

}  // namespace plumb::pass
