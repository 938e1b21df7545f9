// What the source calls the memory at an address: "ht->name", "cache[3]".
//
// Works on code as the front end made it, before any optimisation: an address is
// a variable, a member or element of what another address means, or what a
// pointer that was just loaded points to. Names and types come from the debug
// information; without it there are none.
// Limit: an index that is no variable or constant is written "[]".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

namespace plumb::pass {

// The object at an address.
struct Named {
  std::string text;              // empty: unknown
  llvm::DIType* type = nullptr;  // or null
  Storage storage = Storage::none;
  bool through_pointer = false;  // `text` is a pointer, the object is what it points to
  // How far into the object the address is: those of libraries have no parts with names.
  std::uint64_t inside = 0;
  bool known() const { return !text.empty(); }
  // The object itself, as an expression: "*out" where that is meant.
  std::string expression() const { return through_pointer ? "*" + text : text; }
};

struct Member {
  std::uint64_t offset;
  std::string name;  // ".name", ".rows[2].text"
};

class Names {
 public:
  explicit Names(llvm::Function& function);

  llvm::DILocalVariable* variable(const llvm::Value* slot) const;

  // The object at `address`.
  Named object_at(llvm::Value* address, unsigned depth = 0) const;
  // What lies `offset` bytes into an object, as deep as a pointer.
  Named part_of(Named object, std::uint64_t offset) const {
    return step_into(object, offset, true);
  }
  // What the pointer `value` was read from, or was returned by.
  Named pointer_of(llvm::Value* value, unsigned depth = 0) const;

  // The pointers in a type, at most `limit`; false when there are more.
  static bool pointers_in(llvm::DIType* type, std::uint64_t offset, const std::string& prefix,
                          std::vector<Member>& members, std::size_t limit);
  static llvm::DIType* stripped(llvm::DIType* type);  // no typedefs, const ...
  static llvm::DIType* pointee(llvm::DIType* type);
  static bool is_pointer(llvm::DIType* type);
  // A number that programs keep pointers in (uintptr_t, intptr_t).
  static bool is_pointer_number(llvm::DIType* type);
  static std::string spelling(llvm::DIType* type);

 private:
  Named global_at(const llvm::GlobalVariable* global) const;
  Named step_into(Named object, std::uint64_t offset, bool wants_pointer) const;
  Named element_of(llvm::GEPOperator* gep, unsigned depth) const;
  std::string index_text(llvm::Value* index, unsigned depth) const;

  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::Value*, llvm::DILocalVariable*> variables_;
};

}  // namespace plumb::pass
