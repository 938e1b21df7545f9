// The shapes of the types that the variables of a unit have, from debug
// information. What hangs on pointers is followed a few steps: names of places
// have no more.
#pragma once

#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include "check/model/unit.h"

namespace plumb::check {

class TypeTable {
 public:
  TypeId of(const llvm::DIType* type) { return at(type, 0); }

  // Once, after the last `of`: shallow ones first, so that none is cut off by the
  // way on which it was found.
  std::vector<Type> take();

 private:
  struct Known {
    const llvm::DIType* type;
    unsigned depth;
  };

  TypeId at(const llvm::DIType* type, unsigned depth);
  Type shape_of(const Known& known);
  void add_fields(const llvm::DICompositeType& record, unsigned depth, Type& out);

  std::vector<Known> order_{{nullptr, 0}};
  llvm::DenseMap<const llvm::DIType*, std::uint32_t> index_;
};

}  // namespace plumb::check
