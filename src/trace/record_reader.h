// Reads the raw trace that a runtime left behind (record.h).
//
// The file may be anything: cut off, damaged, from another version, or made to
// hurt. Nothing in it is trusted: every offset is checked against the bytes
// there are, every index against its section, every sum against overflow.
//
// Blocks are summed up while they are read: what comes out is one group for
// each verdict, allocation stack and function called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/report.h"
#include "trace/record.h"

namespace plumb {

// An instruction in a stack. Without a module (code made at run time), offset
// is the address.
struct TraceAddress {
  std::optional<ModuleId> module;
  std::uint64_t offset = 0;
  bool operator==(const TraceAddress&) const = default;
};

enum class Reach { reachable, lost, unknown };

// Where last references went, as the compiler wrote it down.
struct TraceLoss {
  std::optional<Cause> cause;
  std::uint32_t stack = 0;    // index into Trace::stacks; 0: only the frames are known
  std::vector<Frame> frames;  // innermost first
  std::string holder;
  std::string type;
  PlumbStorage storage = PLUMB_STORAGE_NONE;
  UseKind what = UseKind::access;  // of a place that is a use
};

// Where siblings of lost blocks were freed; indices into Trace::stacks.
struct TraceFree {
  std::uint32_t allocation = 0;
  std::uint32_t stack = 0;
  std::uint64_t blocks = 0;
};

struct TraceGroup {
  Reach reach = Reach::unknown;
  std::uint32_t stack = 0;  // index into Trace::stacks
  std::uint32_t loss = 0;   // index into Trace::losses; 0 is "unknown"
  std::uint32_t use = 0;    // the same: where one of them was accessed last
  std::string api;          // "malloc"
  Count direct;
  Count indirect;  // what only these held
  SizeRange sizes;
};

// What a second run recognises an allocation by (record.h).
struct TraceName {
  TraceAddress caller;  // the place that called malloc
  std::uint32_t thread = 0;
  std::uint64_t size = 0;     // PLUMB_WANT_ANY_SIZE when the name has none
  std::uint64_t ordinal = 0;  // 0: not named
  bool operator==(const TraceName&) const = default;
};

// A lost block, one by one.
struct TraceLost {
  TraceName name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t group = 0;   // index into Trace::groups
  std::uint32_t leader = 0;  // index into Trace::lost; itself when it is direct
};

// What the last reference to a block was in (record.h).
struct TracePlace {
  PlumbPlaceKind kind = PLUMB_PLACE_NONE;
  TraceAddress word;            // WORD
  std::uint32_t frame = 0;      // STACK: index in the loss stack
  std::int64_t offset = 0;      // ... and from that frame's CFA; WORD: from the thread pointer
  std::uint32_t registers = 0;  // REGISTERS
  std::vector<PlumbAlias> aliases;
};

// A block that the Valgrind tool watched.
struct TraceWatched {
  TraceName name;
  Reach reach = Reach::unknown;
  std::uint32_t allocation = 0;  // indices into Trace::stacks, 0: unknown
  std::uint32_t loss = 0;
  std::uint32_t use = 0;
  std::optional<Cause> cause;
  bool returned = false;    // the innermost function of the loss had it as its result
  bool last_read = false;   // the loss is that nothing read it after that place
  bool thrown = false;      // ... and an exception left its frame
  bool not_stored = false;  // it never was in memory
  std::uint32_t trail = 0;  // a stack: pairs of first and last instruction
  TracePlace place;
};

struct Trace {
  std::uint32_t pid = 0;
  PlumbEngine engine = PLUMB_ENGINE_RUN;
  std::string mode;     // the engine's own word, or empty
  std::string command;  // as the process was started, cut off when it is long
  PlumbPhase phase = PLUMB_PHASE_NONE;
  PlumbEnd end = PLUMB_END_UNKNOWN;
  std::uint32_t end_signal = 0;  // PLUMB_END_SIGNAL
  std::string end_program;       // PLUMB_END_EXEC
  PlumbProblem problem = PLUMB_PROBLEM_NONE;
  std::string problem_text;
  std::uint32_t limits = 0;  // PlumbLimit bits
  std::uint32_t stack_depth = 0;
  std::uint32_t threads_stopped = 0;
  std::uint32_t threads_unanswered = 0;
  std::uint32_t stop_rounds = 0;
  double scan_seconds = 0;

  std::vector<Module> modules;
  std::vector<std::vector<TraceAddress>> stacks;  // innermost first; 0 is the unknown one
  std::vector<TraceLoss> losses;                  // 0 is the unknown one
  std::vector<TraceFree> frees;
  std::vector<TraceGroup> groups;
  // Lost blocks one by one, leaders first; at most kMaxLost of them.
  static constexpr std::size_t kMaxLost = 1'000'000;
  std::vector<TraceLost> lost;
  std::vector<TraceLost> kept;  // what is still reachable, as many at most
  // Lost when the program asked, and then excused (plumb.h): `group` means nothing.
  std::vector<TraceLost> excused;
  std::vector<TraceWatched> watched;
  Count excluded;   // ignored by annotation, or another process's
  Count allocated;  // always freed, excluded and all groups
  Count freed;
  // The counters did not fit the blocks (a program that was killed between
  // the two): `allocated` was taken from the blocks.
  bool adjusted = false;
};

// `name` is for error messages.
Result<Trace> read_trace(std::span<const std::byte> bytes, std::string_view name);

// Only the modules and the stacks that `ids` names, in that order: for records
// that refer to a trace but are not in it (watch_record.h). An id of 0 is the
// unknown stack.
Result<Trace> read_trace_stacks(std::span<const std::byte> bytes, std::string_view name,
                                std::span<const std::uint32_t> ids);

// "malloc" for PLUMB_API_MALLOC; empty for what is no such number.
std::string_view api_name(std::uint32_t api);

// The same trace without the holes that the runtime keeps for growth.
Result<std::string> compact_trace(std::span<const std::byte> bytes, std::string_view name);

}  // namespace plumb
