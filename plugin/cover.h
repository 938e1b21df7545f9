// Marks that later ones make pointless: on every way from here, a reference to
// the same block is marked again, stored somewhere or returned. Only the newest
// drop of a block counts, so the earlier one can never be the answer.
//
// A search forward from the mark, with the values that are known to point into
// the same block; phi nodes join them on the way. Loops that never end decide
// nothing. A search that takes too long gives up: the mark stays.
// Limit: a program that ends inside a call between the two has the older place.
#pragma once

#include "llvm/IR/Instructions.h"

namespace plumb::pass {

bool is_covered(llvm::CallInst& mark);

}  // namespace plumb::pass
