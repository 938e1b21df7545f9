// Is a mark repeated? The same block is then marked again on every way from
// there on, so that the later mark, which is the newer one, decides.
//
// Values are followed through phis, pointers computed from each other count as
// one, and so do phis that choose between pointers into the same blocks. What is
// stored elsewhere or returned is somebody else's to drop. A way that never ends,
// or on which the program ends or jumps out in a call, decides nothing: who will be
// marked later on the others still holds it there.
// Limits: kMostSteps marks, stores and returns are looked at for one mark; a mark
// for which that is not enough stays. A program that ends, or jumps out, between
// the two has the older place.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace plumb::pass {

// The function must not change while this lives.
class Cover {
 public:
  explicit Cover(llvm::Function& function);

  bool covers(llvm::CallInst& mark);

  // For a mark at the start of a block where ways meet: true when it is covered for
  // those who come by some of them, with the other ones, at whose end it can stand.
  bool covers_on_some_way(llvm::CallInst& mark, std::vector<llvm::BasicBlock*>& others);

 private:
  using Values = llvm::SmallPtrSet<const llvm::Value*, 8>;
  enum class Found { covered, ended, lost, onward };

  const llvm::Value* root_of(const llvm::Value* value) const;
  void join_phis(llvm::Function& function);
  void enter(const llvm::BasicBlock& from, const llvm::BasicBlock& to, const Values& known,
             Values& values) const;
  bool walk_from(const llvm::BasicBlock& block, std::size_t from, Values values,
                 const llvm::CallInst& mark);
  Found look(llvm::Instruction& instruction, const Values& values);

  // What can decide, by block.
  llvm::DenseMap<const llvm::BasicBlock*, std::vector<llvm::Instruction*>> deciding_;
  llvm::DenseMap<const llvm::PHINode*, const llvm::Value*> phi_roots_;
};

}  // namespace plumb::pass
