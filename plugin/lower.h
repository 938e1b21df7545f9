// Second half of the pass, after the main optimisations: removes the marks that
// cannot matter and turns the others into code.
//
// What remains of a mark: a shift and a compare; for a value in the arena, one
// store of place and time into its shadow word (abi.h): in line where it matters
// (in_line.h), in code that all share elsewhere (thunks.h). In code that is not
// optimised the runtime is called instead, which takes the stack along.
#pragma once

#include "in_line.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/IR/Function.h"
#include "sites.h"

namespace plumb::pass {

struct LowerCounts {
  unsigned marks = 0;
  unsigned constant = 0;  // null, undefined, addresses of variables and functions
  unsigned argument = 0;  // the caller has it
  unsigned covered = 0;   // marked again on every way (cover.h)
  unsigned borrowed = 0;  // the memory that it was read from still has it
  unsigned lowered = 0;
};

// `memory` and `aliases` are null for code that is not optimised.
bool lower_function(llvm::Function& function, Sites& sites, llvm::MemorySSA* memory,
                    llvm::AAResults* aliases, FrequenciesOf frequencies_of, LowerCounts& counts);

}  // namespace plumb::pass
