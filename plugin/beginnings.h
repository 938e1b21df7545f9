// What a constructor writes first into its object: nothing was lost by it.
//
// Before an object's life begins its memory has no references that count: it was just
// allocated, or is that of a variable, or what was there before has ended. From the
// constructor's begin on, as far as there is only one way, each write to a part of
// the object is such a one until something may have been there: an earlier write, another
// constructor called for that part, or any other function that gets hold of the object.
// Limit: an object that is made where another one lives, which was not destroyed, has
// the place of its members' losses from earlier.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace plumb::pass {

class Beginnings {
 public:
  // Looks at code as the front end made it.
  explicit Beginnings(llvm::Function& function);

  bool is_first(const llvm::Instruction& writer) const { return first_.contains(&writer); }

 private:
  llvm::DenseSet<const llvm::Instruction*> first_;
};

}  // namespace plumb::pass
