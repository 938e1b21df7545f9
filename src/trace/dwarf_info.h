// What the DWARF of one module says about an address: the function, the calls
// inlined at it, and their lines.
//
// The units are found by a map made from the ranges of all of them, since not
// every compiler writes .debug_aranges. Everything else is read when first
// asked for and kept: a unit's functions and scopes, its line table, and for
// each function the tree of what was inlined into it, as a map from address to
// the innermost inlined call.
//
// Limits: a line of 0 (code that belongs to no line) is given as no line.
// Lines of functions that the linker dropped may hide real ones when it left
// them at an address inside the code. Split DWARF is read from .dwo files; a
// .dwp package is not.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/demangle.h"
#include "trace/elf_module.h"
#include "trace/interval_map.h"

namespace plumb {

struct FunctionName {
  std::string text;            // readable; empty when unknown
  std::string linkage;         // the symbol; empty when DWARF does not give it
  bool maybe_mangled = false;  // of a language that mangles names
  std::optional<std::uint32_t> line;
  // Whether its result is wide enough to be a pointer. DWARF says so for every
  // function that has a DIE at all.
  bool may_return_pointer = false;
};

struct SourcePlace {
  const FunctionName* function = nullptr;  // null: only the line is known
  std::string file;
  std::optional<std::uint32_t> line;
  std::optional<std::uint32_t> column;
};

// Of the line table.
struct LineRow {
  std::uint64_t pc = 0;
  std::uint32_t line = 0;
  const char* file = "";  // empty: none
};

class DwarfInfo {
 public:
  // `dwarf` outlives this.
  DwarfInfo(Dwarf* dwarf, const ElfModule& module, Demangler& demangle);
  ~DwarfInfo();

  // Innermost first; all but the last were inlined. Empty when no unit holds
  // the address (as the DWARF counts it). `entry` becomes the first address of
  // the last one's function.
  std::vector<SourcePlace> find(std::uint64_t address, std::uint64_t& entry);

  // The function's DIE at an address, and its first address.
  bool function_at(std::uint64_t address, Dwarf_Die& die, std::uint64_t& entry);
  // Rows of the line table in [begin, end) that have a line.
  void each_line(std::uint64_t begin, std::uint64_t end,
                 const std::function<void(const LineRow& row)>& use);
  // The units that have code.
  void each_unit(const std::function<void(Dwarf_Die unit)>& use);
  // Entries of the functions in the unit that has this address.
  std::vector<std::uint64_t> functions_beside(std::uint64_t address);

  bool has_functions() const { return has_functions_; }
  bool has_lines() const { return has_lines_; }

  // Units that were asked about whose .dwo file was not found, and the name of
  // the first of them.
  std::size_t missing_split_units() const { return missing_split_units_; }
  const std::string& missing_split_file() const { return missing_split_file_; }

 private:
  struct Function;
  struct Scopes;
  struct Unit;
  struct InlineTree;

  void index_units(const ElfModule& module);
  Unit& unit_ready(std::size_t index);
  Scopes& scopes_of(Dwarf_Die* unit_die);
  InlineTree& inlines_of(Function& function);
  const FunctionName& name_of(Dwarf_Die* die);
  std::string qualified(Dwarf_Die die);
  void set_line(Unit& unit, std::uint64_t address, SourcePlace& place);
  std::string full_path(Unit& unit, const char* file);

  Dwarf* dwarf_;
  Demangler& demangle_;
  std::vector<std::unique_ptr<Unit>> units_;
  IntervalMap<std::size_t> unit_at_;
  std::unordered_map<Dwarf_CU*, std::unique_ptr<Scopes>> scopes_;
  std::unordered_map<const void*, FunctionName> names_;  // by DIE
  bool has_functions_ = false;
  bool has_lines_ = false;
  std::size_t missing_split_units_ = 0;
  std::string missing_split_file_;
};

}  // namespace plumb
