// Addresses to names: function, file, line and column, inlined frames
// included, from DWARF 4 and 5 (in the file, in a separate debug file found by
// build-id or debuglink) or else from the symbol table.
//
// Addresses are offsets in a module, so nothing here needs the process, and
// modules that were unloaded before the report work like the others. Each
// (module, offset) is looked up once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/report.h"

namespace plumb {

// Where an instruction is: the module, and the address minus the module's
// load bias (the address that `objdump` and `nm` show).
struct CodeAddress {
  ModuleId module;
  std::uint64_t offset = 0;
  // A return address belongs to the call before it.
  bool is_return = true;

  bool operator==(const CodeAddress&) const = default;
};

class Variables;

struct SymboliserOptions {
  std::vector<std::string> debug_directories = {"/usr/lib/debug"};
  bool debuginfod = false;  // ask servers; off unless the user wants it
};

class Symboliser {
 public:
  // `modules` gives path and build-id; `debug` is filled in for each module
  // that is asked about ("full", "lines", "symbols", "none").
  Symboliser(std::vector<Module> modules, SymboliserOptions options = {});
  ~Symboliser();
  Symboliser(Symboliser&&) noexcept;
  Symboliser& operator=(Symboliser&&) noexcept;

  // Innermost first: the frames inlined at the address, then the function
  // that contains it. Never empty: an unknown place is a frame with module
  // and offset only.
  const std::vector<Frame>& frames(CodeAddress address);

  // Can the function at the address (the one that was called, not one inlined
  // into it) return a pointer? Unknown without debug information.
  std::optional<bool> may_return_pointer(CodeAddress address);

  // What is known about the module's variables; null without debug information.
  // Addresses are offsets in the module.
  Variables* variables(ModuleId module);

  // The frames of a whole stack of addresses, innermost first. The first
  // address's `is_return` is as given, all are used as they are.
  Stack stack(const std::vector<CodeAddress>& addresses);

  // The modules with `debug` filled in, and one note for each kind of thing
  // that is missing (stripped modules, a debug file of another build, ...)
  // with the remedy: which Debian package or flag gives it.
  const std::vector<Module>& modules() const;
  std::vector<Note> notes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plumb
