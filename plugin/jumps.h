// Functions that only ever end by a longjmp: the scopes of those who call them end
// with the call.
//
// longjmp and its kin, and functions of the module that call such a one on every way.
// Limit: what another module does is not known; the runtime then looks through the
// abandoned stack (runtime/compiled/wrap_longjmp.cc).
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Module.h"

namespace plumb::pass {

using JumpingFunctions = llvm::SmallPtrSet<const llvm::Function*, 8>;

JumpingFunctions jumping_functions(const llvm::Module& module);

}  // namespace plumb::pass
