// May an instruction change which block the pointer at a place refers to?
//
// LLVM's alias analysis answers, with liberties that C leaves and programs do not
// take: a store of less than a pointer's size does not change half of a pointer, a
// store without a type of its own (a union, copied) goes to a union, and functions
// of libc that allocate or print call nothing of the program's. What is wrong by
// them makes a place too early, never a false alarm.
#pragma once

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace plumb::pass {

// Memory that had a pointer in it when `since` was done.
struct PointerPlace {
  llvm::Instruction* since;  // the load that read it, or the store that put it there
  llvm::Value* address;
  llvm::MemoryLocation memory;
  bool typed;  // the access has a type of its own
};
PointerPlace place_of(llvm::LoadInst& load);
PointerPlace place_of(llvm::StoreInst& store);

bool is_same_place(const llvm::Value* one, const llvm::Value* other,
                   const llvm::DataLayout& layout);

class Clobber {
 public:
  Clobber(llvm::Function& function, llvm::AAResults& aliases)
      : layout_(function.getDataLayout()), same_time_(aliases), later_(aliases) {
    later_.enableCrossIterationMode();
  }

  bool may_change(llvm::Instruction& writer, const PointerPlace& place) {
    return may_change(writer, place, same_time_);
  }
  // The same for a writer of the next time around a loop: what has one name in the code
  // is then another value.
  bool may_change_later(llvm::Instruction& writer, const PointerPlace& place) {
    return may_change(writer, place, later_);
  }

 private:
  bool may_change(llvm::Instruction& writer, const PointerPlace& place,
                  llvm::BatchAAResults& aliases);
  static bool call_may_change(llvm::CallBase& call, const PointerPlace& place,
                              llvm::BatchAAResults& aliases);

  const llvm::DataLayout& layout_;
  llvm::BatchAAResults same_time_;
  llvm::BatchAAResults later_;
};

}  // namespace plumb::pass
