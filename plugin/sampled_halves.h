// The two halves of a tracing version: one that reports its accesses, and a plain one
// in which the function goes on, at its full speed, when the burst is over.
//
// Representation. Both are in one function, with the same blocks. At the head of each
// loop, and behind each computed goto, the tracing half can cross over to the plain
// one. Innermost loops that call nothing are left after a few rounds although the burst
// goes on, and the way out of such a loop leads back (`returns`): what comes after a
// long loop is traced, too.
//
// Invariant: what is alive at a crossing is in slots (variables in memory that are
// promoted again), one for both halves' copies of a value.
#pragma once

#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include "sampled_labels.h"

namespace plumb::pass {

struct Crossing {
  llvm::BasicBlock* traced;
  llvm::BasicBlock* plain;  // its copy
  bool is_short;            // an innermost loop that calls nothing
};

struct Halves {
  std::vector<Crossing> crossings;
  std::vector<Crossing> returns;          // from the plain half
  std::vector<llvm::BasicBlock*> traced;  // all blocks of the tracing half
  llvm::ValueToValueMapTy plain;          // copies of its blocks and values
  bool is_split() const { return !crossings.empty(); }
};

// Gives `function`, which is the tracing half so far, its plain half, where that can be
// reached. `tables` are its own.
void make_halves(llvm::Function& function, const LabelTables& tables, Halves& halves);

// Slots for what several ways lead to now.
class Slots {
 public:
  Slots(llvm::Function& function, const Halves& halves) : function_(function), halves_(halves) {}

  // All values that are used in other blocks than their own.
  void make_for_halves();
  // Of this value of the tracing half, or argument; made if there is none.
  llvm::AllocaInst* of(llvm::Value* value);
  // Back to values. Blocks that nobody can reach go before that.
  void promote();

 private:
  llvm::AllocaInst* make(llvm::Type* type);
  void put_in(llvm::Value* value, llvm::AllocaInst* slot);

  llvm::Function& function_;
  const Halves& halves_;
  llvm::MapVector<llvm::Value*, llvm::AllocaInst*> slots_;
};

}  // namespace plumb::pass
