// Which drops are worth their code in line, where they are fastest.
//
// A function may grow by about three quarters of its size. What the drops out of line (thunks.h)
// leave of that goes to those that run most often, by the compiler's own guess: loops
// come before the rest. Where hardly any call of the function comes, such as clean-ups behind
// exceptions, none is in line.
// In C all of them are: its functions have few, and lua was a tenth slower with less. So are they
// where code may be too far apart for calls (-mcmodel=large).
// Limit: sizes are guessed from what the code is before instructions are selected.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace plumb::pass {

using InLine = llvm::SmallPtrSet<const llvm::CallInst*, 16>;

// Is there code that drops share?
bool shares_drops(const llvm::Module& module);

// Asked for only where there are drops to choose from.
using FrequenciesOf = llvm::function_ref<const llvm::BlockFrequencyInfo&()>;

// Of the marks that are left in a function.
InLine drops_in_line(const llvm::Function& function, llvm::ArrayRef<llvm::CallInst*> marks,
                     FrequenciesOf frequencies_of);

}  // namespace plumb::pass
