// Where a check goes when it runs out: a cold function that asks the runtime whether a
// burst begins and changes over to the tracing version if so. Apart from the function
// that is checked, so that this one hardly grows.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "sampled_places.h"
#include "sampled_twin.h"

namespace plumb::pass {

// A cold function beside `of`, of this type: internal, and read as `of` in stacks.
llvm::Function* make_cold(llvm::Function& of, llvm::FunctionType* type, const char* suffix);
// What of the attributes of a function holds for cold ones made from it.
llvm::AttrBuilder cold_attributes(const llvm::Function& function);
// Those of its parameters and result that say how they are passed.
llvm::AttributeList passing_attributes(const llvm::Function& function);

llvm::Value* address_in(llvm::IRBuilder<>& builder, llvm::GlobalVariable* variable);
// Asks the runtime: nonzero, a burst begins.
llvm::CallInst* burst_begins(llvm::IRBuilder<>& builder, const Check& check);

// At the entry: of the same type; ends as `function` would, in one of the versions.
llvm::Function* make_entry_ask(llvm::Function& function, llvm::Function& twin, const Check& check,
                               const Places& places);
// At place `number`: int (frame), which changes no registers. Nonzero: the tracing
// version has run to the end, its result is in the frame.
llvm::Function* make_place_ask(llvm::Function& function, llvm::Function& twin, const Check& check,
                               unsigned number);

}  // namespace plumb::pass
