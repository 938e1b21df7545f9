// The table of places that a module carries for the runtime (abi.h).
//
// A place is made when something is marked, before optimisation: a row of words without
// content, so that the optimiser has little to carry along. When the code around one was
// inlined, the place gets a twin that knows its callers. Those that are still referred to in
// the end get their content then; what they were inlined into they share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "abi.h"
#include "last_uses.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "names.h"

namespace plumb::pass {

// In which line of which function.
struct Spot {
  const llvm::DILocation* line = nullptr;        // null: none in particular
  const llvm::DISubprogram* function = nullptr;  // null: `name` is all that is known of it
  std::string name;
};

struct Site {
  Spot spot;
  const llvm::DILocation* caller = nullptr;  // which call it was inlined at
  std::string holder;
  std::string type;
  Storage storage = Storage::none;
  Cause cause = Cause::none;
  std::vector<Member> members;  // of what is freed or overwritten as a whole
  std::uint64_t stride = 0;
  // What the function of the spot did last with the pointer, in the same file.
  std::optional<PointerUse> use;
};

Spot spot_of(const llvm::DILocation* location, const llvm::Function& function);

// From the field at `offset` of `base` to `target`, 32 bits.
llvm::Constant* relative(llvm::Constant* target, llvm::GlobalVariable* base, std::uint64_t offset);

class Sites {
 public:
  // One or several places in a row; the first one's address is the result. Equal rows are one
  // (the members of a library's object, which have no names of their own). Metadata that they
  // refer to is to stay until they are finished.
  llvm::GlobalVariable* make(llvm::Module& module, std::vector<Site> row);

  // Is this one of ours?
  static bool is_site(const llvm::Value* value);

  // The same row, inlined at `caller` (a DILocation's inlinedAt); the row itself
  // when nothing was inlined.
  llvm::Constant* inlined_at(llvm::Module& module, llvm::GlobalVariable* row,
                             const llvm::DILocation* caller);

  // From here on the optimiser may remove places.
  void all_made() { made_.clear(); }

  // Gives the places their content, and the module what every one with places needs:
  // registration before its constructors.
  void finish(llvm::Module& module);
  // ... and one that notes accesses: the runtime says whether they are wanted.
  static void finish_accesses(llvm::Module& module);

 private:
  llvm::StringMap<std::vector<Site>> rows_;      // by the global's name
  llvm::StringMap<llvm::GlobalVariable*> made_;  // by what is in them, as long as all are there
  // By a row and where it was inlined, until they have their content.
  llvm::DenseMap<std::pair<const llvm::GlobalVariable*, const llvm::DILocation*>,
                 llvm::GlobalVariable*>
      twins_;
  unsigned count_ = 0;
};

}  // namespace plumb::pass
