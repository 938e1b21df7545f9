// `plumb run`: starts an unmodified program and says what it leaked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/report.h"
#include "run/custom.h"
#include "run/drop.h"
#include "run/sites.h"

namespace plumb {

struct RunOptions {
  std::vector<std::string> command;  // program and arguments
  unsigned stack_depth = 30;         // frames kept per allocation; 1 is the caller only
  // Only kQuickDepth frames, and fewer where unwinding would take time: what was lost
  // has its whole stack from the second run.
  bool quick_stacks = false;
  bool forgotten = true;  // list what is still reachable, too
  // Zero new blocks: recycled memory that the program does not fill holds stale
  // references, which hide leaks.
  bool scrub = true;
  std::string keep_trace;  // copy the raw records here, or empty
  // How much is looked for: what is lost (scan), and where (the program is run
  // again, under Valgrind, when something was lost), in one run or two.
  enum class Look { scan_only, again, once } look = Look::again;
  // In the second run, watch what is still reachable, too: where it was used
  // last, and what points to it.
  bool last_use = false;
  std::function<void()> before_again;  // the second run is about to begin
  // A word with only these bits counts as a reference, too; 0: words as they are.
  std::uint64_t pointer_mask = 0;
  // Reports while the program runs: when it wants one (PLUMB_REPORT_NOW), and, if
  // `report_every` is set, every so many seconds (0: only when SIGUSR1 is sent to us).
  // By one thread at a time, but not always the same. Null: none.
  std::function<void(Report&)> on_report;
  std::optional<double> report_every;
  // What to do at the moment of a loss (launch.h), and how much must be lost for it.
  std::string on_leak;
  std::uint64_t leak_threshold = 1;
  std::vector<CustomFunction> custom;  // allocators of the program's own
  std::optional<Sites> sites;          // only these are looked for and listed
  bool follow = false;                 // processes that the program starts, too
  DropFrees drop;                      // skip frees, to see whether the leaks are found
};

struct RunOutcome {
  Report report;        // complete: ids, order and totals set
  int wait_status = 0;  // as waitpid gives it: the program's own end
  // With `follow`: a report for each process; `report` is all of them in one.
  std::vector<Report> processes;
};

// Runs the command with its own standard streams. Fails before the start
// (program not found, statically linked, ...); after it, what went wrong with
// our own work is a note in the report.
Result<RunOutcome> run_program(const RunOptions& options);

// Reads a raw trace that a runtime left behind and makes a report of it.
Result<Report> report_of_trace(const std::string& path);

}  // namespace plumb
