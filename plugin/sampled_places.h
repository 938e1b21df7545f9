// Where a function can change over to its tracing version, and what is alive there.
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "sampled_twin.h"

namespace plumb::pass {

struct Live {
  llvm::Value* value;
  std::uint64_t offset;  // in the frame
};

// The head of an outermost loop: it has the phis only and goes to `body`.
struct Place {
  llvm::BasicBlock* head = nullptr;
  llvm::BasicBlock* body = nullptr;
  Check check;
  std::vector<Live> live;  // at the start of `body`
};

struct Places {
  std::vector<Place> all;        // numbered from 1
  std::vector<Live> variables;   // those in memory: they lie in the frame
  std::uint64_t frame_size = 0;  // the result is at its start
  llvm::Align alignment = llvm::Align(16);
};

// Can a value be put into memory and taken from it again?
bool can_be_kept(const llvm::Value& value);

// Changes the function's blocks, not what it does.
Places find_places(llvm::Function& function);

}  // namespace plumb::pass
