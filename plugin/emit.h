// The code that writes a place into the shadow: what a mark becomes in the end.
#pragma once

#include "abi.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace plumb::pass {

class Emitter {
 public:
  // `optimised`: the function is. Code that is not keeps what it works with on the stack;
  // what is only there for our sake must not look like a reference.
  Emitter(llvm::Function& function, bool optimised)
      : module_(*function.getParent()),
        context_(function.getContext()),
        optimised_(optimised),
        word_(llvm::Type::getInt64Ty(context_)),
        pointer_(llvm::PointerType::getUnqual(context_)) {}

  // Before `before`, a branch that is taken when the pointer may refer to a block.
  struct Tracked {
    llvm::Instruction* then;
    llvm::Value* value;  // the pointer as a number; inverted where the code is not optimised
  };
  Tracked if_tracked(llvm::Instruction* before, llvm::Value* pointer);
  // The same where the runtime decides whether any is taken.
  Tracked if_wanted(llvm::Instruction* before, llvm::Value* pointer);

  void call_runtime(const Tracked& tracked, const llvm::DebugLoc& where, llvm::Value* site);

  // The time goes on, the place gets its number, and both go into the shadow word.
  enum class Shadow { drops, uses };
  void write_shadow(const Tracked& tracked, const llvm::DebugLoc& where, llvm::Value* site,
                    Shadow shadow);

  // A word that every program or library has, which the runtime fills in.
  llvm::GlobalVariable* hidden_word(const char* name);

 private:
  llvm::Value* inverted(llvm::Instruction* before, llvm::Value* pointer);
  llvm::Value* arena_number(llvm::IRBuilder<>& builder, llvm::Value* value);
  Tracked if_in(llvm::IRBuilder<>& builder, llvm::Instruction* before, llvm::Value* pointer,
                llvm::Value* arena);

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const bool optimised_;
  llvm::Type* word_;
  llvm::PointerType* pointer_;
};

}  // namespace plumb::pass
