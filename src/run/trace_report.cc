#include "run/trace_report.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/accounting.h"
#include "core/allocator_names.h"
#include "core/fingerprint.h"
#include "core/merge.h"
#include "core/order.h"
#include "run/trace_notes.h"
#include "trace/symbolise.h"

namespace plumb {

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
  report.tool.engine = Engine::run;
  report.tool.mode = "scan";
  report.subject.pid = trace.pid;
  report.totals.allocated = trace.allocated;
  report.totals.freed = trace.freed;
  return report;
}

void finish_report(Report& report, const Trace& trace, Symboliser& symbols) {
  report.modules = symbols.modules();
  report.notes = notes_of(trace);
  for (Note& note : symbols.notes()) report.notes.push_back(std::move(note));

  merge_leaks(report.leaks);
  assign_ids(report);
  sort_leaks(report);
  recount_hidden(report);
}

Report report_from(const Trace& trace) {
  Report report = begin_report(trace);
  Symboliser symbols(trace.modules);
  // After it gave up the runtime saw no free any more: its blocks say nothing.
  const bool stale = trace.phase == PLUMB_PHASE_GAVE_UP;
  for (const TraceGroup& group : trace.groups) {
    if (stale) {
      report.totals.excluded += group.direct;
      report.totals.excluded += group.indirect;
      continue;
    }
    Leak leak = leak_of(group);
    leak.allocation.stack = named_stack(trace.stacks[group.stack], symbols);
    leak.allocation.api = api_of(leak.allocation.stack, group.api);
    (leak.kind == Kind::lost ? report.totals.lost : report.totals.forgotten) += leak.total();
    report.leaks.push_back(std::move(leak));
  }
  finish_report(report, trace, symbols);
  return report;
}

}  // namespace plumb
