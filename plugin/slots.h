// The local variables and temporaries of a function that can hold pointers.
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "names.h"

namespace plumb::pass {

inline constexpr std::uint64_t kMaxTracked = 4096;  // bytes of one slot
inline constexpr std::size_t kMaxPointers = 64;     // in one slot, one by one

// Right before an instruction control leaves a variable's lexical block.
struct ScopeExit {
  llvm::Instruction* before;
  llvm::DebugLoc last;  // in the block
};

struct Slot {
  llvm::AllocaInst* place = nullptr;
  llvm::DILocalVariable* variable = nullptr;  // null: a temporary
  std::vector<std::uint64_t> pointers;        // offsets
  std::vector<llvm::IntrinsicInst*> starts;
  std::vector<llvm::IntrinsicInst*> ends;
  std::vector<ScopeExit> exits;  // where there are no ends (lexical_ends.h)
  bool parameter = false;
  bool reassigned = false;  // a parameter that is more than what the caller gave
};

// By alloca; what is not in it is not followed.
llvm::DenseMap<const llvm::AllocaInst*, Slot> slots_of(llvm::Function& function,
                                                       const Names& names);

// Offsets of the pointers in an IR type; false when there are more than `limit`.
bool pointer_offsets(llvm::Type* type, const llvm::DataLayout& layout, std::uint64_t offset,
                     std::vector<std::uint64_t>& offsets, std::size_t limit);

}  // namespace plumb::pass
