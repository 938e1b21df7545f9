// `-fplumb=access`: where each block was accessed last.
//
// Each read and write through a pointer that may lead into a block leaves its place in
// a shadow of its own. It is done last, when the optimiser has taken away all it can; of
// several accesses to one object in a row only the last one counts. What libc's
// functions only look at (strlen, printf) is an access by the call.
// Limit: code that we did not compile leaves nothing.
#pragma once

#include "llvm/IR/Function.h"
#include "sites.h"

namespace plumb::pass {

// What libc's functions do with their arguments: in code that is not optimised nobody
// asked yet.
void learn_library(llvm::Module& module);

bool note_accesses(llvm::Function& function, Sites& sites, bool optimised);

}  // namespace plumb::pass
