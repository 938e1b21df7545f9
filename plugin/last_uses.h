// What a function did last with the pointer in a holder, before a point in it.
//
// A holder is a variable or a part of one, a global, or a member of what a
// variable points to. A use reads the pointer out of it and accesses memory with
// it, passes it to a call, copies it or computes with it. Where all ways to the point have
// the same use as their last one, it is known when the function is compiled, and
// costs nothing when it runs; where they differ, nothing is said. When the last use
// was a `free`, what the holder still has is no reference any more.
//
// Looks at code as the front end made it, before any mark. Limits: uses through other
// variables, and in other functions than as the call's argument, are not seen;
// who looks through more than kMostBlocks blocks gives up.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "abi.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace plumb::pass {

struct PointerUse {
  const llvm::DILocation* where = nullptr;
  UseKind what = UseKind::access;
  bool frees = false;
};

class LastUses {
 public:
  explicit LastUses(llvm::Function& function);

  // Of the pointer that lies at `address`, on every way to one of these points.
  std::optional<PointerUse> before(llvm::Value* address,
                                   llvm::ArrayRef<const llvm::Instruction*> points) const;

  // Does something happen to that pointer on a way from one of the points to `end`?
  bool is_touched_between(llvm::Value* address, llvm::ArrayRef<const llvm::Instruction*> points,
                          const llvm::Instruction& end) const;

  // Was the block that the pointer at `address` refers to freed, on every way to this
  // point?
  bool is_freed_before(llvm::Value* address, const llvm::Instruction& point) const;

 private:
  static constexpr std::int64_t kNotFollowed = INT64_MIN;
  // A variable and an offset in it, or in what the pointer there points to.
  struct Holder {
    const llvm::Value* base = nullptr;  // an alloca or a global
    std::int64_t offset = 0;
    std::int64_t inner = kNotFollowed;
    auto key() const { return std::pair(base, std::pair(offset, inner)); }
  };
  using Key = std::pair<const llvm::Value*, std::pair<std::int64_t, std::int64_t>>;

  // What happens to a holder at an instruction; without a use it may get something new.
  struct Event {
    const llvm::Instruction* at = nullptr;
    PointerUse use;
    bool is_use() const { return use.where != nullptr; }
  };
  struct History {
    Key holder;
    llvm::DenseMap<const llvm::Instruction*, PointerUse> events;
    llvm::DenseMap<const llvm::BasicBlock*, Event> last;  // of each block
    void change_at(const llvm::Instruction* at) { events[at] = {}; }
  };

  Holder holder_at(llvm::Value* address) const;
  const History* history_at(llvm::Value* address) const;
  History& history_of(const Holder& holder);
  bool is_null_on(const History& history, const llvm::BasicBlock& from,
                  const llvm::BasicBlock& to) const;
  void collect(llvm::Function& function);
  void note_uses(llvm::LoadInst& load);
  void note_store(const llvm::StoreInst& store);
  void note_addresses(const llvm::CallBase& call);
  void pass_on_changes();
  void order();
  static std::optional<Event> last_in(const History& history, const llvm::Instruction* before);
  // Shows the last event on each way back from the points to `agrees`; false as soon as it
  // does not, or a way has none.
  template <typename Agrees>
  bool go_back(const History& history, llvm::ArrayRef<const llvm::Instruction*> points,
               Agrees agrees) const;
  bool is_private(llvm::Value* address) const;

  const llvm::DataLayout& layout_;
  llvm::DenseMap<Key, History> histories_;
  // Variables whose address somebody else has, and the calls that it is given to; stores
  // that may be to any part of a variable.
  llvm::DenseSet<const llvm::Value*> shared_;
  std::vector<std::pair<const llvm::Value*, const llvm::Instruction*>> handed_out_;
};

}  // namespace plumb::pass
