// Labels whose address is taken (computed goto) in a function that is copied.
//
// An address of a label is the original's everywhere, and a copy that jumps to one
// would have to compare it with each of them. In the usual interpreter all of them are
// in constant tables that nothing but its jumps reads: each copy then has tables of its
// own, with its own labels, and jumps as fast as the original.
#pragma once

#include <utility>
#include <vector>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace plumb::pass {

using Blocks = llvm::SmallPtrSet<llvm::BasicBlock*, 32>;

struct LabelTables {
  // Each with the function's labels; of the copy: with the copy's.
  std::vector<llvm::GlobalVariable*> all;
  // Where the jumps are: only in these blocks is an address of a label alive.
  std::vector<llvm::BasicBlock*> jumps;
};

// All addresses of labels of the function, if they are used in no other way.
bool find_label_tables(llvm::Function& function, LabelTables& tables);

// The blocks `among` are copies, by `copies`, of blocks of `from`, and now in `to`:
// they get tables of their own. Returns these.
LabelTables copy_label_tables(const LabelTables& tables, llvm::Function& from, llvm::Function& to,
                              const Blocks& among, llvm::ValueToValueMapTy& copies);

// The other way, for a whole copy of a function: compares.
void compare_labels(llvm::Function& function, llvm::Function& copy,
                    llvm::ValueToValueMapTy& copies);

}  // namespace plumb::pass
