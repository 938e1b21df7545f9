#include "core/accounting.h"

#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb {

namespace {

constexpr std::string_view kHint =
    "the report was changed or cut after it was written; make it again";

using Figure = std::uint64_t Count::*;

struct NamedFigure {
  Figure figure;
  std::string_view name;
};
constexpr std::array<NamedFigure, 2> kFigures = {
    {{&Count::blocks, "blocks"}, {&Count::bytes, "bytes"}}};

// A sum that knows when it no longer fits.
class Sum {
 public:
  void add(std::uint64_t number) {
    overflow_ = __builtin_add_overflow(value_, number, &value_) || overflow_;
  }
  bool is(std::uint64_t expected) const { return !overflow_ && value_ == expected; }
  std::string text() const {
    return overflow_ ? "more than fits into 64 bits" : with_commas(value_);
  }

 private:
  std::uint64_t value_ = 0;
  bool overflow_ = false;
};

Result<void> check_allocated(const Totals& totals) {
  for (const auto& [figure, name] : kFigures) {
    Sum sum;
    for (const Count* part :
         {&totals.freed, &totals.lost, &totals.stale, &totals.forgotten, &totals.excluded}) {
      sum.add(part->*figure);
    }
    if (!sum.is(totals.allocated.*figure)) {
      return fail(
          fmt::format("totals.allocated.{}", name),
          fmt::format("{} {} were allocated, but freed, lost, stale, forgotten and excluded "
                      "together are {}",
                      with_commas(totals.allocated.*figure), name, sum.text()),
          std::string(kHint));
    }
  }
  return {};
}

struct KindTotals {
  Kind kind;
  const Count& total;
  const std::optional<Count>& omitted;
};

Result<void> check_kind(const KindTotals& expected, const Report& report) {
  for (const auto& [figure, name] : kFigures) {
    Sum sum;
    for (const Leak& leak : report.leaks) {
      if (leak.kind != expected.kind) continue;
      sum.add(leak.direct.*figure);
      sum.add(leak.indirect.*figure);
    }
    if (expected.omitted) sum.add((*expected.omitted).*figure);
    if (!sum.is(expected.total.*figure)) {
      return fail(fmt::format("totals.{}.{}", name_of(expected.kind), name),
                  fmt::format("the total is {} {}, but the {} leaks listed{} add up to {}",
                              with_commas(expected.total.*figure), name, name_of(expected.kind),
                              expected.omitted ? " and omitted" : "", sum.text()),
                  std::string(kHint));
    }
  }
  return {};
}

struct Hidden {
  std::uint64_t suppressed = 0;
  std::uint64_t known = 0;
};

Hidden count_hidden(const Report& report) {
  Hidden hidden;
  for (const Leak& leak : report.leaks) {
    if (leak.suppressed) ++hidden.suppressed;
    if (leak.known) ++hidden.known;
  }
  return hidden;
}

Result<void> check_hidden(std::string_view name, std::uint64_t total, std::uint64_t listed) {
  if (total == listed) return {};
  return fail(fmt::format("totals.{}", name),
              fmt::format("the total is {}, but {} of the leaks listed are {}", with_commas(total),
                          with_commas(listed), name),
              std::string(kHint));
}

}  // namespace

void recount_hidden(Report& report) {
  const Hidden hidden = count_hidden(report);
  report.totals.suppressed = hidden.suppressed;
  report.totals.known = hidden.known;
}

Result<void> check_totals(const Report& report) {
  const Totals& totals = report.totals;
  if (report.tool.engine != Engine::check) {
    if (Result<void> sums = check_allocated(totals); !sums) return sums;
    for (const KindTotals& expected :
         {KindTotals{Kind::lost, totals.lost, totals.omitted_lost},
          KindTotals{Kind::stale, totals.stale, totals.omitted_stale},
          KindTotals{Kind::forgotten, totals.forgotten, totals.omitted_forgotten}}) {
      if (Result<void> sums = check_kind(expected, report); !sums) return sums;
    }
  }
  const Hidden hidden = count_hidden(report);
  if (Result<void> sums = check_hidden("suppressed", totals.suppressed, hidden.suppressed); !sums) {
    return sums;
  }
  return check_hidden("known", totals.known, hidden.known);
}

}  // namespace plumb
