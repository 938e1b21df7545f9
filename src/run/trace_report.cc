#include "run/trace_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/demangle.h"
#include "core/accounting.h"
#include "core/allocator_names.h"
#include "core/fingerprint.h"
#include "core/merge.h"
#include "core/order.h"
#include "core/suggestion.h"
#include "run/trace_notes.h"

namespace plumb {

Leak leak_of(const TraceGroup& group) {
  Leak leak;
  leak.kind = group.reach == Reach::lost ? Kind::lost : Kind::forgotten;
  // Nobody looked: it may be lost as well.
  if (group.reach == Reach::unknown) leak.confidence = 0.5;
  leak.direct = group.direct;
  leak.indirect = group.indirect;
  leak.sizes = group.sizes;
  return leak;
}

namespace {

constexpr std::array<std::string_view, PLUMB_STORAGE_COUNT> kStorages = {
    "", "local", "parameter", "global", "heap", "thread", "temporary"};

// The compiler's frames have the name as the source has it, or only the linker's.
void complete_names(Stack& frames) {
  Demangler demangle;
  for (Frame& frame : frames) {
    if (const std::string name = demangle(frame.linkage); !name.empty()) frame.function = name;
    if (frame.function.empty()) frame.function = frame.linkage;
    if (frame.linkage == frame.function) frame.linkage.clear();
  }
}

bool same_function(const Frame& left, const Frame& right) {
  const std::string& a = left.linkage.empty() ? left.function : left.linkage;
  const std::string& b = right.linkage.empty() ? right.function : right.linkage;
  return a == b;
}

// What `delete` calls for an object whose destructor is virtual: the compiler's own function
// around the destructor, which then frees. The source has the `delete` alone.
bool is_deleting_destructor(const Frame& frame) { return frame.linkage.ends_with("D0Ev"); }

Loss loss_of(const TraceLoss& from, Stack stack) {
  Loss loss;
  loss.cause = from.cause;
  Stack frames = from.frames;
  complete_names(frames);
  if (stack.empty()) {
    loss.stack = std::move(frames);
  } else {
    // The instruction may belong to the end of the scope; the way there is known
    // to the compiler's frame.
    if (!frames.empty() && frames[0].line && same_function(stack[0], frames[0])) {
      stack[0].line = frames[0].line;
      stack[0].column = frames[0].column;
    }
    if (loss.cause == Cause::holder_freed && stack.size() > 1 && is_deleting_destructor(stack[0])) {
      stack.erase(stack.begin());
    }
    loss.stack = std::move(stack);
  }
  if (!from.holder.empty()) {
    Holder holder;
    holder.name = from.holder;
    holder.type = from.type;
    holder.storage = kStorages[from.storage];
    loss.holder = std::move(holder);
  }
  return loss;
}

}  // namespace

bool is_system_library(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  constexpr std::array<std::string_view, 6> kNames = {"libc.so",   "libc-",   "ld-linux",
                                                      "libstdc++", "libm.so", "libgcc_s"};
  return std::ranges::any_of(kNames, [&](std::string_view it) { return name.starts_with(it); });
}

Stack named_stack(const std::vector<TraceAddress>& addresses, Symboliser& symbols) {
  Stack stack;
  for (const TraceAddress& address : addresses) {
    if (!address.module) {
      Frame frame;
      frame.offset = address.offset;
      stack.push_back(std::move(frame));
      continue;
    }
    const std::vector<Frame>& frames = symbols.frames({*address.module, address.offset, true});
    stack.insert(stack.end(), frames.begin(), frames.end());
  }
  return stack;
}

std::string api_of(const Stack& stack, const std::string& called) {
  std::string api = called;
  for (const Frame& frame : stack) {
    if (!is_allocator_frame(frame)) break;
    const std::string_view name = frame.function;
    const std::string_view plain = name.substr(0, name.find('('));
    // Containers' own helpers allocate by operator new, which is already named.
    if (plain.find("::") != std::string_view::npos) break;
    if (!plain.empty()) api = plain;
  }
  return api;
}

Report begin_report(const Trace& trace) {
  Report report;
  report.tool.engine = trace.engine == PLUMB_ENGINE_CC ? Engine::cc : Engine::run;
  report.tool.mode = trace.mode.empty() ? "scan" : trace.mode;
  report.subject.pid = trace.pid;
  report.totals.allocated = trace.allocated;
  report.totals.freed = trace.freed;
  report.totals.excluded = trace.excluded;
  return report;
}

void finish_report(Report& report, const Trace& trace, Symboliser& symbols) {
  report.modules = symbols.modules();
  report.notes = notes_of(trace);
  for (Note& note : symbols.notes()) report.notes.push_back(std::move(note));

  merge_leaks(report.leaks);
  assign_ids(report);
  suggest_fixes(report);
  sort_leaks(report);
  recount_hidden(report);
}

namespace {

LastUse last_use_of(const TraceLoss& place, Stack stack) {
  LastUse use;
  const bool by_line = !stack.empty();
  use.stack = loss_of(place, std::move(stack)).stack;
  // The address is that of the loss in the same function.
  if (by_line && !use.stack.empty()) use.stack[0].offset.reset();
  use.what = place.what;
  return use;
}

// The same calls in the source: code that the optimiser copied has several addresses.
bool same_calls(const Stack& left, const Stack& right) {
  return std::ranges::equal(left, right, [](const Frame& one, const Frame& other) {
    const bool named = one.line.has_value() && one.line == other.line &&
                       one.column == other.column && one.function == other.function &&
                       one.file == other.file;
    return named || one == other;
  });
}

// By allocation stack of what was lost: where others of it were freed. What copies of the code
// allocated belongs to one of these stacks alone: they may be one leak in the end.
using FreesByStack = std::map<std::uint32_t, std::vector<const TraceFree*>>;

FreesByStack frees_by_stack(const Trace& trace, Symboliser& symbols) {
  FreesByStack frees;
  for (const TraceGroup& group : trace.groups) {
    if (group.reach == Reach::lost) frees[group.stack];
  }
  std::map<std::uint32_t, Stack> names;
  const auto name = [&](std::uint32_t stack) -> const Stack& {
    const auto [at, is_new] = names.try_emplace(stack);
    if (is_new) at->second = named_stack(trace.stacks[stack], symbols);
    return at->second;
  };
  for (const TraceFree& free : trace.frees) {
    if (trace.stacks[free.stack].empty()) continue;
    auto lost = frees.find(free.allocation);
    if (lost == frees.end()) {
      lost = std::ranges::find_if(frees, [&](const auto& entry) {
        return trace.stacks[entry.first].size() == trace.stacks[free.allocation].size() &&
               same_calls(name(entry.first), name(free.allocation));
      });
    }
    if (lost != frees.end()) lost->second.push_back(&free);
  }
  return frees;
}

// Most blocks first.
std::vector<SiblingFree> frees_of(const Trace& trace, const std::vector<const TraceFree*>& found,
                                  Symboliser& symbols) {
  constexpr std::size_t kMostPlaces = 8;
  std::vector<SiblingFree> frees;
  for (const TraceFree* free : found) {
    Stack named = named_stack(trace.stacks[free->stack], symbols);
    const auto known = std::ranges::find_if(frees, [&](const SiblingFree& one) {
      return one.stack == named || same_calls(one.stack, named);
    });
    if (known != frees.end()) {
      known->blocks += free->blocks;
    } else {
      frees.push_back({std::move(named), free->blocks, {}});
    }
  }
  std::ranges::stable_sort(frees, std::ranges::greater{}, &SiblingFree::blocks);
  if (frees.size() > kMostPlaces) frees.resize(kMostPlaces);
  return frees;
}

}  // namespace

Report report_from(const Trace& trace) {
  Report report = begin_report(trace);
  Symboliser symbols(trace.modules);
  // After it gave up the runtime saw no free any more: its blocks say nothing.
  const bool stale = trace.phase == PLUMB_PHASE_GAVE_UP;
  const FreesByStack frees = frees_by_stack(trace, symbols);
  for (const TraceGroup& group : trace.groups) {
    if (stale) {
      report.totals.excluded += group.direct;
      report.totals.excluded += group.indirect;
      continue;
    }
    Leak leak = leak_of(group);
    leak.allocation.stack = named_stack(trace.stacks[group.stack], symbols);
    leak.allocation.api = api_of(leak.allocation.stack, group.api);
    if (group.loss != 0) {
      const TraceLoss& loss = trace.losses[group.loss];
      leak.loss = loss_of(loss, named_stack(trace.stacks[loss.stack], symbols));
    }
    if (group.use != 0) {
      const TraceLoss& use = trace.losses[group.use];
      leak.last_use = last_use_of(use, named_stack(trace.stacks[use.stack], symbols));
    }
    if (leak.kind == Kind::lost) leak.frees = frees_of(trace, frees.at(group.stack), symbols);
    (leak.kind == Kind::lost ? report.totals.lost : report.totals.forgotten) += leak.total();
    report.leaks.push_back(std::move(leak));
  }
  finish_report(report, trace, symbols);
  return report;
}

}  // namespace plumb
