// LLVM IR to our model. The module comes from clang with
// `-O1 -Xclang -disable-llvm-passes -g`: source-level allocas, scope ends as
// lifetime markers, no optimisation.
#pragma once

#include "check/model/unit.h"

namespace llvm {
class Module;
}

namespace plumb::check {

Unit lower_module(const llvm::Module& module);

}  // namespace plumb::check
