// The table of places that a module carries for the runtime (abi.h).
//
// A place is made when something is marked, before optimisation; those that are
// still referred to in the end stay in the module. When the code around one was
// inlined, the place gets a twin that knows its callers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "abi.h"
#include "last_uses.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "names.h"

namespace plumb::pass {

struct Spot {
  std::string function;
  std::string linkage;
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

struct Site {
  std::vector<Spot> spots;  // innermost first, then what it was inlined into
  std::string holder;
  std::string type;
  Storage storage = Storage::none;
  Cause cause = Cause::none;
  std::vector<Member> members;  // of what is freed or overwritten as a whole
  std::uint64_t stride = 0;
  // What the function of the first spot did last with the pointer, in the same file.
  std::optional<PointerUse> use;
};

Spot spot_of(const llvm::DILocation* location, const llvm::Function& function);

class Sites {
 public:
  // One or several places in a row; the first one's address is the result.
  llvm::GlobalVariable* make(llvm::Module& module, std::vector<Site> row);

  // Is this one of ours?
  static bool is_site(const llvm::Value* value);

  // The same row, inlined at `caller` (a DILocation's inlinedAt); the row itself
  // when nothing was inlined.
  llvm::Constant* inlined_at(llvm::Module& module, llvm::GlobalVariable* row,
                             const llvm::DILocation* caller);

  // What every module with places needs: registration before its constructors.
  static void finish(llvm::Module& module);
  // ... and one that notes accesses: the runtime says whether they are wanted.
  static void finish_accesses(llvm::Module& module);

 private:
  llvm::Constant* text(llvm::Module& module, const std::string& content);
  llvm::GlobalVariable* detail(llvm::Module& module, const Site& site);

  llvm::StringMap<std::vector<Site>> rows_;  // by the global's name
  llvm::StringMap<llvm::GlobalVariable*> twins_;
  unsigned count_ = 0;
};

}  // namespace plumb::pass
