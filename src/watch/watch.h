// `plumb watch`: starts a program under the sampling runtime, or asks a running
// one for a snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/report.h"
#include "watch/verdict.h"

namespace plumb {

struct WatchOptions {
  std::vector<std::string> command;
  double epoch = 1;                                 // seconds of CPU time
  double interval = 10;                             // seconds between snapshots
  std::uint64_t sample = 64 << 10;                  // mean bytes between samples
  std::uint64_t search = std::uint64_t{256} << 20;  // bytes to read at the end, for what is lost
  unsigned stack_depth = 24;
  std::string snapshot_file;  // kept there, `%p` is the process; empty: nowhere
  bool follow = false;        // children, too; without %p their numbers are put behind the name
  StalePolicy policy;
  // Called with its number when it runs, and as soon as it has ended.
  std::function<void(std::uint64_t)> on_start = {};
  std::function<void()> on_end = {};
};

struct WatchOutcome {
  Report report;
  int wait_status = 0;
  bool from_outside = false;  // a signal was sent to it through us, or by the terminal
};

// Runs the command with its own standard streams and reports from the last
// snapshot. Fails before the start; after it, what went wrong is a note.
Result<WatchOutcome> watch_program(const WatchOptions& options);

// The bytes of a snapshot of a watched process, taken now.
Result<std::string> ask_for_snapshot(std::uint64_t pid);

// From the bytes or the file of a snapshot.
Result<Report> report_of_snapshot(std::string_view bytes, const std::string& name,
                                  const StalePolicy& policy);

}  // namespace plumb
