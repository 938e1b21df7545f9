#include "jumps.h"

#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace plumb::pass {

namespace {

bool calls_one_of(const BasicBlock& block, const JumpingFunctions& jumps) {
  return any_of(block, [&](const Instruction& instruction) {
    auto* call = dyn_cast<CallBase>(&instruction);
    return call && call->getCalledFunction() && jumps.contains(call->getCalledFunction());
  });
}

// On every way from the start that ends, there is a jump.
bool always_jumps(const Function& function, const JumpingFunctions& jumps) {
  SmallPtrSet<const BasicBlock*, 16> seen;
  std::vector<const BasicBlock*> open{&function.getEntryBlock()};
  bool any = false;
  while (!open.empty()) {
    const BasicBlock* block = open.back();
    open.pop_back();
    if (!seen.insert(block).second) continue;
    if (calls_one_of(*block, jumps)) {
      any = true;
      continue;
    }
    if (isa<ReturnInst>(block->getTerminator())) return false;
    for (const BasicBlock* next : successors(block)) open.push_back(next);
  }
  return any;
}

}  // namespace

JumpingFunctions jumping_functions(const Module& module) {
  JumpingFunctions jumps;
  for (const char* name : {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"}) {
    if (const Function* function = module.getFunction(name)) jumps.insert(function);
  }
  for (bool grown = !jumps.empty(); grown;) {
    grown = false;
    for (const Function& function : module) {
      if (function.isDeclaration() || function.isInterposable() || jumps.contains(&function)) {
        continue;
      }
      if (always_jumps(function, jumps)) grown |= jumps.insert(&function).second;
    }
  }
  return jumps;
}

}  // namespace plumb::pass
