// Small leaks and reports for the tests of this folder.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "core/report.h"

namespace plumb::test {

inline Frame frame(std::string function, std::string file = {}, std::uint32_t line = 0,
                   std::uint32_t column = 0) {
  Frame result;
  result.function = std::move(function);
  result.file = std::move(file);
  if (line != 0) result.line = line;
  if (column != 0) result.column = column;
  return result;
}

inline Stack stack(std::initializer_list<const char*> functions) {
  Stack result;
  for (const char* function : functions) result.push_back(frame(function));
  return result;
}

inline Leak leak(Stack allocation, std::uint64_t bytes = 8, std::uint64_t blocks = 1) {
  Leak result;
  result.allocation.stack = std::move(allocation);
  result.allocation.api = "malloc";
  result.direct.bytes = bytes;
  result.direct.blocks = blocks;
  return result;
}

inline Leak lost_at(Stack allocation, Stack loss, Cause cause = Cause::overwritten,
                    std::string holder = "p") {
  Leak result = leak(std::move(allocation));
  result.loss.emplace();
  result.loss->stack = std::move(loss);
  result.loss->cause = cause;
  result.loss->holder.emplace();
  result.loss->holder->name = std::move(holder);
  return result;
}

// Totals that hold: what is not leaked was freed.
inline void add_up(Report& report) {
  report.totals = {};
  for (const Leak& each : report.leaks) {
    Count& kind = each.kind == Kind::lost    ? report.totals.lost
                  : each.kind == Kind::stale ? report.totals.stale
                                             : report.totals.forgotten;
    kind += each.total();
    report.totals.allocated += each.total();
    if (each.suppressed) ++report.totals.suppressed;
    if (each.known) ++report.totals.known;
  }
  report.totals.freed.blocks = 5;
  report.totals.freed.bytes = 50;
  report.totals.allocated += report.totals.freed;
}

inline Report report_of(std::vector<Leak> leaks) {
  Report report;
  report.leaks = std::move(leaks);
  add_up(report);
  return report;
}

}  // namespace plumb::test
