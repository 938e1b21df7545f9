// LLVM IR to our model. The module comes from clang at -O1 -g, before any pass has
// run: source-level variables, scope ends as lifetime markers, nothing optimised
// away.
#pragma once

#include "check/model/unit.h"

namespace llvm {
class Module;
}

namespace plumb::check {

Unit lower_module(const llvm::Module& module);

}  // namespace plumb::check
