// What the symboliser has to say about the modules of a report: which of them
// have no lines, were rebuilt since, or are gone, and what to do about it.
// One note for each kind of trouble, whatever the number of modules.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/report.h"

namespace plumb {

enum class Trouble {
  none,
  pseudo,      // nothing on disk: [vdso]
  unreadable,  // no such file, no permission, not ELF, damaged
  deleted,     // removed while it ran, or replaced
  changed,     // there, but another build
};

struct ModuleState {
  std::string path;
  Trouble trouble = Trouble::none;
  std::string detail;  // why it is unreadable
  std::string debug;   // as in Module
  bool asked = false;  // about something other than the start of the process
  bool without_line = false;
  std::size_t missing_split_units = 0;
  std::string missing_split_file;
};

std::vector<Note> symbol_notes(const std::vector<ModuleState>& modules);

}  // namespace plumb
