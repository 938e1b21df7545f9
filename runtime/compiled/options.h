// PLUMB_OPTIONS, as far as the program's own process needs it; what concerns the
// report is read by the command that writes it.
#pragma once

#include <stdint.h>

namespace plumb::rt {

enum class Mode { off, minimal, partial, full };
// What a last use is. `built`: accesses where the program was compiled to note them.
enum class LastUse { built, pointer, access };

struct CompiledOptions {
  Mode mode = Mode::full;
  uint64_t partial_limit = 4096;
  unsigned depth = 30;
  LastUse last_use = LastUse::built;
  bool whole_stacks = false;  // also where references go
  uint32_t drop_percent = 0;  // of the frees, that are not carried out
  uint32_t drop_seed = 0;
  int exit_code = -1;       // with findings
  bool has_output = false;  // a report is written in any case
  char trace[512] = {};     // keep the raw records here
  char sites[512] = {};     // a report: only what it names is tracked
  char unknown[64] = {};    // a mode that is none
  bool unknown_last_use = false;
  char lsan_suppressions[512] = {};  // a file, named by __lsan_default_options
};

CompiledOptions& options();
void read_options(const char* text);       // null: none
void read_lsan_options(const char* text);  // before those; null: none

}  // namespace plumb::rt
