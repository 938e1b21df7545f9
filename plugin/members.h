// Drops of several members of one object at one place: what goes out of scope, whole.
//
// A string stream has 28 pointers, and each end of its scope, those behind exceptions as well,
// drops them all. Instead of code for each there is one call (thunks.h) with a table of
// where they are in the object and their places. A row of places (sites.h) is indexed by the
// way there, which is the same for all.
// Limit: members that the optimiser keeps in registers are not in the object.
#pragma once

#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Instructions.h"

namespace plumb::pass {

struct MemberDrop {
  llvm::CallInst* mark;
  std::int64_t offset;
  llvm::Constant* row;  // of places
};

struct MemberDrops {
  llvm::Value* object;
  llvm::Value* way;  // which place of the rows; null: the first
  std::vector<MemberDrop> members;
};

// Among the marks that are left in a function. What they read is the same at the last mark.
std::vector<MemberDrops> member_drops(llvm::ArrayRef<llvm::CallInst*> marks);

// One call in place of the marks, which are gone then. `inlined` is told each mark and its row.
using RowOf = llvm::function_ref<llvm::Constant*(llvm::CallInst&, llvm::Constant*)>;
void drop_members(const MemberDrops& drops, RowOf inlined);

}  // namespace plumb::pass
