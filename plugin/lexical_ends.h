// Where scopes end that the front end says nothing about.
//
// In functions with computed gotos, or where a jump passes a declaration by, the
// front end gives the variables of inner blocks no lifetime markers: each would
// live, and be carried around, until the function returns. Interpreters are such
// functions. The debug information knows the lexical block of each variable; it
// ends where control goes on outside of it.
//
// A slot is emptied there, so it must be certain that nobody reads it any more:
// only slots whose address is never taken are looked at, and an edge counts only
// when the slot is dead behind it.
#pragma once

#include "llvm/IR/Function.h"
#include "slots.h"

namespace plumb::pass {

// Fills in Slot::exits; may split edges.
void find_lexical_ends(llvm::Function& function,
                       llvm::DenseMap<const llvm::AllocaInst*, Slot>& slots);

}  // namespace plumb::pass
