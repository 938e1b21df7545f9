// Which references are only borrowed: memory has them as well when they go, so that
// nothing is lost by it.
//
// A value is followed through phis and pointer arithmetic to where it came from. It
// is borrowed when it was read from memory, or was stored there, and nothing from
// then on may change that place (clobber.h). A place that gets a pointer computed
// from its own one still refers to the same block.
//
// Invariants: a load counts only if it is not in a cycle with a phi on the way, so
// that its address means the same at the mark as it did at the load; what a loop takes
// along from one time around to the next (p = p->next) is looked at where it is chosen,
// with the writers of the next time told apart (Clobber::may_change_later). Blocks that refer
// to each other do not excuse each other: what was stored counts only as long as its
// holder does not rest on it.
#pragma once

#include <vector>

#include "clobber.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace plumb::pass {

// Is the function's address known to others, who may call it and keep nothing of what they
// give it? In a table of virtual functions alone it is called for an object that somebody has.
bool is_called_from_anywhere(const llvm::Function& function);

class Borrow {
 public:
  Borrow(llvm::Function& function, llvm::MemorySSA& memory, llvm::AAResults& aliases);

  // Memory still has the mark's value there.
  bool is_borrowed(llvm::CallInst& mark);

  // A block where ways meet before a mark, and what is written between it and the mark.
  struct Meeting {
    llvm::BasicBlock* block = nullptr;
    llvm::SmallVector<llvm::Instruction*, 8> writers;
  };
  // The mark's own block.
  static Meeting own_meeting(llvm::CallInst& mark);
  // The last one at which memory may differ by the way; none: there is none, or it is
  // too far.
  Meeting last_meeting(llvm::CallInst& mark);
  // Where the mark's value is chosen, if what is written from there on is known.
  Meeting choosing_meeting(llvm::CallInst& mark, llvm::PHINode& chosen);
  // The same as is_borrowed for those who come by `way`, with `value` for the mark's.
  // `back`: the way is that back of a loop, the mark is met the next time around, and the
  // value is one that is chosen at the meeting.
  bool is_borrowed_from(const Meeting& meeting, llvm::Value* value, llvm::BasicBlock* way,
                        bool back);
  // Is the value there before the block begins?
  bool is_made_before(const llvm::Instruction& made, const llvm::BasicBlock& block) const;

  // The mark is of a variable whose new value was computed from its old one.
  static bool moves_within(llvm::CallInst& mark);

  bool in_cycle_with(const llvm::BasicBlock* one, const llvm::BasicBlock* other) const;

 private:
  // Where a value is to be in memory: at the end of a way, behind which some more
  // instructions follow.
  struct Point {
    llvm::Instruction* at;
    llvm::MemoryAccess* before;
    llvm::ArrayRef<llvm::Instruction*> more;
    bool later = false;  // they are of the next time around
  };
  bool is_borrowed_at(llvm::Value* value, const Point& point);
  bool was_stored(llvm::Value* value, const Point& point);
  bool still_holds(const PointerPlace& place, llvm::MemoryAccess* before, unsigned depth = 0);
  bool still_holds(const PointerPlace& place, const Point& point);
  bool renews(llvm::Instruction& writer, const PointerPlace& place, unsigned depth);
  bool rests_on(const llvm::Value* holder, const llvm::Value* value) const;
  llvm::MemoryAccess* last_access(llvm::BasicBlock* block);

  llvm::Function& function_;
  llvm::MemorySSA& memory_;
  const bool called_from_anywhere_;
  Clobber clobber_;
  // By value: what holds it, as far as that was relied on.
  llvm::DenseMap<const llvm::Value*, llvm::SmallVector<const llvm::Value*, 2>> holders_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> cycles_;  // 0, or the cycle's number
};

}  // namespace plumb::pass
