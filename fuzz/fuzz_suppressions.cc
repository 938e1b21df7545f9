// Any bytes are a suppression file or a clear error. What parses is applied to
// a small report, and what is generated for its leaks must parse again.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/accounting.h"
#include "core/fingerprint.h"
#include "core/suppression.h"

namespace {

plumb::Frame frame(const char* function, const char* file, std::uint32_t line) {
  plumb::Frame result;
  result.function = function;
  result.file = file;
  result.line = line;
  result.module = plumb::ModuleId::of(0);
  return result;
}

plumb::Report small_report() {
  plumb::Report report;
  report.modules.push_back({.path = "/usr/lib/liba.so", .build_id = "", .debug = "", .extra = {}});
  plumb::Leak one;
  one.allocation.api = "strdup";
  one.allocation.stack = {frame("strdup", "", 1), frame("a::b(int*)", "/src/a.c", 3),
                          frame("main", "m.c", 9)};
  one.loss.emplace().stack = {frame("f.isra.0", "a.c", 4)};
  one.direct.blocks = 3;
  one.direct.bytes = 30;
  plumb::Leak two;
  two.kind = plumb::Kind::forgotten;
  two.allocation.api = "operator new";
  two.allocation.stack = {frame("b", "b.c", 1), frame("b", "b.c", 2), frame("a", "a.c", 2)};
  two.direct.blocks = 1;
  two.direct.bytes = 1;
  report.leaks = {one, two};
  report.totals.lost = one.direct;
  report.totals.forgotten = two.direct;
  report.totals.allocated.blocks = 4;
  report.totals.allocated.bytes = 31;
  assign_ids(report);
  return report;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto entries = plumb::parse_suppressions(text, "input");
  if (!entries) {
    PLUMB_CHECK(!entries.error().what.empty() && entries.error().where.starts_with("input:"));
    return 0;
  }
  plumb::Report report = small_report();
  apply_suppressions(report, *entries, "2026-01-01");
  PLUMB_CHECK(check_totals(report).has_value());

  // The input once more, as the name of a function.
  report.leaks[0].allocation.stack[1].function = text;
  report.leaks[0].suppressed.reset();
  const std::string generated = suppression_for(report.leaks[0], report);
  auto again = plumb::parse_suppressions(generated, "generated");
  PLUMB_CHECK(again.has_value() && again->size() == 1);
  apply_suppressions(report, *again, "2026-01-01");
  PLUMB_CHECK(report.leaks[0].suppressed.has_value());
  return 0;
}
