// Exceptions that pass through a function: without anything to clean up, the
// front end makes no landing pad, and the variables of the frame would go unseen.
#pragma once

#include <vector>

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace plumb::pass {

// Gives every call that may throw a landing pad; returns where the new ones
// resume, for the marks, and adds none where nothing can be thrown.
std::vector<llvm::ResumeInst*> catch_passing_exceptions(llvm::Function& function);

}  // namespace plumb::pass
