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

  // The same for those who come to the mark's block by `way`, with `value` for it.
  bool covers_from(llvm::CallInst& mark, llvm::Value* value, llvm::BasicBlock* way);

 private:
  using Values = llvm::SmallPtrSet<const llvm::Value*, 8>;
  using Known = llvm::DenseMap<const llvm::BasicBlock*, std::vector<Values>>;
  enum class Found { covered, ended, lost, onward };
  struct Walk {
    const llvm::BasicBlock* block;
    std::size_t from;  // in its list
    Values values;
  };

  const llvm::Value* root_of(const llvm::Value* value) const;
  void join_phis(llvm::Function& function);
  void name_phis(llvm::Function& function);
  static void forget_made_in(const llvm::BasicBlock& block, Values& values);
  void enter(const llvm::BasicBlock& from, const llvm::BasicBlock& to, const Values& known,
             Values& values) const;
  void find_returning(llvm::Function& function);
  static bool is_known(const Known& known, const llvm::BasicBlock& block, const Values& values,
                       bool as_subset);
  bool walk_from(const llvm::BasicBlock& block, std::size_t from, Values values,
                 const llvm::CallInst& mark);
  std::size_t behind(llvm::CallInst& mark);  // in its block's list
  Found look(llvm::Instruction& instruction, const Values& values);

  // What can decide, by block.
  llvm::DenseMap<const llvm::BasicBlock*, std::vector<llvm::Instruction*>> deciding_;
  llvm::DenseMap<const llvm::PHINode*, const llvm::Value*> phi_roots_;
  llvm::DenseMap<const llvm::PHINode*, const llvm::Value*> names_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 32> returning_;
  // What walks found: at the start of a block, these values are marked again on every
  // way, and so are more; these are not, and neither are fewer.
  Known covered_;
  Known lost_;
};

}  // namespace plumb::pass
