// First half of the pass, before optimisation: marks every place where a
// reference goes.
//
// A mark is a call of llvm.var.annotation with the value that goes and the place
// (sites.h): an intrinsic that touches no memory the optimiser knows, costs the
// inliner nothing and is never dropped. It stands behind the store, so that one
// question ("is it still there?") later decides for stores and scope ends alike.
//
// To know what a slot held, slots that can hold pointers are set to null where
// their scope begins; the optimiser removes what is not needed.
// Limits: local arrays above kMaxTracked bytes are not followed; nor are
// pointers in vectors.
#pragma once

#include "jumps.h"
#include "llvm/IR/Function.h"
#include "sites.h"

namespace plumb::pass {

// True when anything was changed.
bool mark_function(llvm::Function& function, Sites& sites, const JumpingFunctions& jumps);

// A mark that is still there; null for other calls.
llvm::CallInst* as_mark(llvm::Instruction& instruction);

// PLUMB_PASS_KEEP=1: no mark is left out or removed but what cannot refer to a block, to
// compare with (bench/injected.py).
bool keeps_all();

}  // namespace plumb::pass
