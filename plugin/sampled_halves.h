// The two halves of a tracing version: one that reports its accesses, and a plain one
// in which its loops go on, at their full speed, when the burst is over.
//
// Representation. Both are in one function. Each loop of the tracing half has a plain
// copy of its own, with all that is in it, which can be entered at its head alone: so it
// is as good a loop as the function's. Whoever leaves it is in the tracing half again and
// crosses over at the next head. Where there are other loops than that (of several
// entries, or by computed gotos), there is one copy of everything, with a crossing at
// each head and behind each computed goto; ways out of short loops lead back (`returns`).
//
// Innermost loops that call nothing are left after a few rounds although the burst goes
// on: what comes after a long loop is traced, too.
//
// Invariant: what is alive at a crossing is in slots (variables in memory that are
// promoted again, sampled_slots.h), one for all copies of a value.
#pragma once

#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "sampled_labels.h"

namespace plumb::pass {

struct Crossing {
  llvm::BasicBlock* traced;
  llvm::BasicBlock* plain;  // its copy
  bool is_short;            // an innermost loop that calls nothing
};

struct Halves {
  std::vector<Crossing> crossings;
  std::vector<Crossing> returns;          // from the plain half
  std::vector<llvm::BasicBlock*> traced;  // all blocks of the tracing half
  // Of its blocks and values, one in the plain copy of each loop around them.
  llvm::MapVector<llvm::Value*, llvm::SmallVector<llvm::Value*, 2>> copies;
  bool is_split() const { return !crossings.empty(); }
};

// Gives `function`, which is the tracing half so far, its plain half, where that can be
// reached. `tables` are its own.
void make_halves(llvm::Function& function, const LabelTables& tables, Halves& halves);

}  // namespace plumb::pass
