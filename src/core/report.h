// A report: what one analysis of one subject found, in the shape of the
// contract's JSON (schema "plumb-report/1"). Writers in report/ render it,
// report/json reads it back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/leak.h"

namespace plumb {

inline constexpr const char* kSchemaName = "plumb-report";
inline constexpr int kSchemaMajor = 1;

struct Tool {
  std::string name = "plumb";
  std::string version;
  Engine engine = Engine::run;
  std::string mode;  // "scan", "once", "full", ...; the engine's own word
  Extra extra;
  bool operator==(const Tool&) const = default;
};

struct Status {  // how the subject ended; neither when unknown
  std::optional<int> code;
  std::optional<int> signal;
  Extra extra;
  bool operator==(const Status&) const = default;
};

struct Subject {
  std::vector<std::string> command;
  std::string cwd;
  std::optional<std::int64_t> pid;
  std::string started;             // ISO 8601, UTC
  std::optional<double> duration;  // seconds
  std::optional<Status> status;
  std::string host;
  std::optional<std::uint64_t> units;  // check: translation units
  std::string flags;                   // check: digest of the flags
  Extra extra;
  bool operator==(const Subject&) const = default;
};

struct Module {
  std::string path;
  std::string build_id;  // `buildId`, hex
  std::string debug;     // "full", "lines", "symbols", "none"
  Extra extra;
  bool operator==(const Module&) const = default;
};

// One stage of the static engine: how many candidates went in and came out.
struct Stage {
  std::string name;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  Extra extra;
  bool operator==(const Stage&) const = default;
};

struct Totals {
  Count allocated, freed, lost, stale, forgotten, excluded;
  // Leaks that the report's list no longer has, because somebody filtered it
  // (`plumb report --min-size`); by kind, so that the sums still hold.
  std::optional<Count> omitted_lost, omitted_stale, omitted_forgotten;  // `omitted{...}`
  Extra omitted_extra;           // unknown members of `omitted`
  std::uint64_t suppressed = 0;  // leaks in the list
  std::uint64_t known = 0;       // leaks in the list
  // check only
  std::optional<std::uint64_t> functions, units, undecided, skipped_units;  // `skippedUnits`
  std::vector<Stage> stages;
  Extra extra;
  bool operator==(const Totals&) const = default;
};

// What limits the result.
struct Note {
  std::string code;    // "no-debug-info", "budget", "skipped-unit", ...
  std::string text;    // one sentence
  std::string remedy;  // or empty
  Extra extra;
  bool operator==(const Note&) const = default;
};

struct Sample {  // `series`
  double time = 0;
  std::uint64_t heap_bytes = 0;       // `heapBytes`
  std::uint64_t live_blocks = 0;      // `liveBlocks`
  std::optional<double> stale_bytes;  // `staleBytes`
  Extra extra;
  bool operator==(const Sample&) const = default;
};

struct Report {
  int schema_minor = 0;  // of a "plumb-report/1.N" that was read
  Tool tool;
  Subject subject;
  std::vector<Module> modules;
  Totals totals;
  std::vector<Leak> leaks;
  std::vector<Note> notes;
  std::vector<Sample> series;
  Extra extra;

  bool operator==(const Report&) const = default;
};

}  // namespace plumb
