// Reads the snapshot that a watched program's runtime wrote (watch_record.h).
//
// The file may be anything: nothing in it is trusted. Numbers that are used as
// indices are checked here, and figures that are not finite are refused, so
// that everybody behind can calculate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/report.h"
#include "trace/record_reader.h"
#include "trace/watch_record.h"

namespace plumb {

struct WatchBlock {
  double size = 0;
  double weight = 1;  // blocks that it stands for
  double birth = 0;   // seconds of CPU time
  double last = 0;    // touched last
  bool observed = false;
  std::uint32_t touches = 0;  // epochs
  std::uint32_t access = 0;   // in WatchSnapshot::accesses; 0: not traced
  std::uint32_t burst = 0;    // likewise: the checks that led there, newest first
  bool parted = false;        // freed as the program ended
  bool lost = false;          // nothing referred to it as the program ended
};

struct WatchFree {
  std::vector<TraceAddress> stack;
  std::uint64_t samples = 0;
};

struct WatchSite {
  std::vector<TraceAddress> stack;
  std::string api;
  PlumbWatchSite sums{};
  std::vector<WatchBlock> blocks;  // live
  std::vector<WatchFree> frees;
  std::vector<double> curve;  // live bytes at each point of the history
};

struct WatchSnapshot {
  std::uint32_t pid = 0;
  PlumbWatchPhase phase = PLUMB_WATCH_RUNNING;
  std::uint32_t limits = 0;  // PlumbWatchLimit bits
  PlumbWatchSearch search = PLUMB_WATCH_NOT_SEARCHED;
  double now = 0;             // seconds of CPU time, as are all times but the next two
  double elapsed = 0;         // by the wall clock
  std::uint64_t started = 0;  // seconds since 1970
  double epoch = 0;           // mean length of those that went by
  std::uint64_t epochs = 0;
  std::uint64_t mean = 0;  // bytes between samples
  double own_time = 0;     // of the watching thread
  std::string problem;
  std::vector<std::string> command;
  std::vector<Module> modules;
  std::vector<WatchSite> sites;
  std::vector<PlumbWatchPoint> history;
  std::map<std::uint32_t, std::vector<TraceAddress>> accesses;
};

// Are these the first bytes of a snapshot?
bool is_snapshot(std::string_view start);

// `name` is for error messages.
Result<WatchSnapshot> read_snapshot(std::span<const std::byte> bytes, std::string_view name);

}  // namespace plumb
