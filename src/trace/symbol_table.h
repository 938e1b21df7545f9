// Functions by address from the symbol tables of a module: .symtab, or else
// .dynsym, or else the compressed mini table (.gnu_debugdata); and the stubs
// through which a module calls others ("malloc@plt").
//
// Several names for one address are usual (aliases, versions). The one taken
// is one that others can call before a local one, of a version in use before
// an old one, with the fewest leading underscores, then the first in order of
// text: "free", not "cfree" or "__libc_free", and the same each time.
// Limit: a symbol without a size is taken to reach to the next one, but no
// further than a page.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "trace/elf_module.h"
#include "trace/interval_map.h"

namespace plumb {

struct Symbol {
  std::uint64_t address = 0;
  std::string_view name;  // without version; lives as long as the module
};

class SymbolTable {
 public:
  explicit SymbolTable(const ElfModule& module);

  // The function that holds the address; null when none is known.
  const Symbol* find(std::uint64_t address) const;

  // False when the module has no table at all, not even of what it exports.
  bool any() const { return any_; }

 private:
  struct Candidate;
  void read_table(const ElfModule& module, Elf* elf, std::uint64_t shift,
                  std::vector<Candidate>& candidates);
  void add_functions(std::vector<Candidate>& candidates);
  void add_stubs(const ElfModule& module);

  bool any_ = false;
  std::deque<std::string> stub_names_;
  IntervalMap<Symbol> symbols_;
};

}  // namespace plumb
