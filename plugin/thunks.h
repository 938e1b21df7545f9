// Code that all drops of a program or library share, so that a place costs few bytes.
//
// A drop in line is some 80 bytes, and functions in C++ have many: every member of what
// goes out of scope, on the way of an exception as well.
// Here it is a test of one bit, and for what passes it a call: of code that every
// module brings along and the linker keeps once, with an entry per register, which
// leaves all but three registers as they were.
//
// Limit: the bit is set in addresses of the stack and of libraries as well; what it is
// really about is only asked behind the call.
#pragma once

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace plumb::pass {

// Before `before`: if the pointer refers to a block, it is dropped at this place.
void drop_out_of_line(llvm::Instruction* before, llvm::Value* pointer, llvm::Value* site);

// The same for pointers in an object, by a table of them (members.h). `way` may be null.
void drop_out_of_line(llvm::Instruction* before, llvm::Value* object, llvm::Value* way,
                      llvm::GlobalVariable* table);

// What the calls need, if there are any. After all of them.
void add_thunks(llvm::Module& module, llvm::GlobalVariable* bias);

}  // namespace plumb::pass
