// Small reports for the tests of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/report.h"

namespace plumb {

inline Frame frame(std::string function, std::string file, std::uint32_t line) {
  Frame result;
  result.function = std::move(function);
  result.file = std::move(file);
  result.line = line;
  result.module = ModuleId::of(0);
  return result;
}

inline Leak leak(std::string id, Kind kind, std::uint64_t bytes, Frame place) {
  Leak result;
  result.id = std::move(id);
  result.kind = kind;
  result.direct = {1, bytes, {}};
  result.allocation.stack = {std::move(place)};
  return result;
}

inline Report report_of(std::vector<Leak> leaks) {
  Report report;
  report.modules = {{"/usr/bin/server", "", "full", {}}};
  for (const Leak& entry : leaks) {
    (entry.kind == Kind::lost ? report.totals.lost : report.totals.forgotten) += entry.total();
    report.totals.allocated += entry.total();
  }
  report.leaks = std::move(leaks);
  return report;
}

inline Report sample() {
  return report_of({leak("aaaa000000000001", Kind::lost, 100, frame("grow(int)", "src/a.c", 3)),
                    leak("bbbb000000000002", Kind::lost, 10, frame("fill", "src/b.c", 9)),
                    leak("cccc000000000003", Kind::forgotten, 50, frame("init", "lib/c.c", 1))});
}

}  // namespace plumb
