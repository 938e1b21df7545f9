// Values that several ways lead to, once blocks have been copied and ways added: each is
// kept in a variable, and these are promoted to values again.
#pragma once

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "sampled_halves.h"

namespace plumb::pass {

// In another block than its own, or by a phi.
bool is_used_elsewhere(const llvm::Instruction& value);

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
