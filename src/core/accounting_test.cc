#include "core/accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/filter.h"
#include "core/order.h"
#include "core/test_leaks.h"

namespace plumb {
namespace {

using test::frame;
using test::leak;
using test::report_of;
using test::stack;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Report sample() {
  std::vector<Leak> leaks = {leak(stack({"a"}), 100, 2), leak(stack({"b"}), 30, 3),
                             leak(stack({"c"}), 7, 1)};
  leaks[0].indirect.bytes = 1000;
  leaks[0].indirect.blocks = 10;
  leaks[1].kind = Kind::stale;
  leaks[2].kind = Kind::forgotten;
  return report_of(std::move(leaks));
}

std::string failure(const Report& report) {
  const Result<void> checked = check_totals(report);
  return checked ? "" : checked.error().where + ": " + checked.error().what;
}

TEST(CheckTotals, AcceptsSumsThatHold) { EXPECT_EQ(failure(sample()), ""); }

TEST(CheckTotals, NamesBothFigures) {
  Report report = sample();
  report.totals.allocated.bytes += 1;
  EXPECT_EQ(failure(report),
            "totals.allocated.bytes: 1,188 bytes were allocated, but freed, lost, stale, forgotten "
            "and excluded together are 1,187");
  report = sample();
  report.totals.lost.blocks -= 1;
  report.totals.freed.blocks += 1;
  EXPECT_EQ(failure(report),
            "totals.lost.blocks: the total is 11 blocks, but the lost leaks listed add up to 12");
}

TEST(CheckTotals, ChecksEachFigure) {
  for (Count Totals::* part : {&Totals::allocated, &Totals::freed, &Totals::lost, &Totals::stale,
                               &Totals::forgotten, &Totals::excluded}) {
    for (std::uint64_t Count::* figure : {&Count::blocks, &Count::bytes}) {
      Report report = sample();
      report.totals.*part.*figure += 1;
      EXPECT_NE(failure(report), "");
    }
  }
  Report report = sample();
  report.totals.suppressed = 1;
  EXPECT_EQ(failure(report),
            "totals.suppressed: the total is 1, but 0 of the leaks listed are suppressed");
  report = sample();
  report.totals.known = 2;
  EXPECT_THAT(failure(report), HasSubstr("totals.known"));
}

TEST(CheckTotals, NoSumWrapsAround) {
  Report report = sample();
  report.leaks[0].direct.bytes = ~std::uint64_t{0} - 5;
  report.leaks[0].indirect.bytes = 6 + 1100;  // wraps to the right total
  EXPECT_THAT(failure(report), HasSubstr("more than fits into 64 bits"));

  report = sample();
  report.totals.excluded.bytes = ~std::uint64_t{0};
  report.totals.freed.bytes += 1;  // wraps to the right total
  EXPECT_THAT(failure(report), HasSubstr("more than fits into 64 bits"));
}

TEST(CheckTotals, CountsWhatWasOmitted) {
  Report report = sample();
  report.totals.omitted_lost.emplace();
  report.totals.omitted_lost->bytes = 1;
  EXPECT_THAT(failure(report), HasSubstr("listed and omitted add up to 1,101"));
}

TEST(CheckTotals, OfCheckHasNoBlocks) {
  Report report = sample();
  report.tool.engine = Engine::check;
  report.totals = {};
  EXPECT_EQ(failure(report), "");
  report.totals.known = 1;
  EXPECT_NE(failure(report), "");
}

TEST(RecountHidden, CountsMarks) {
  Report report = sample();
  report.leaks[0].suppressed.emplace();
  report.leaks[0].known = true;
  report.leaks[1].known = true;
  recount_hidden(report);
  EXPECT_EQ(report.totals.suppressed, 1u);
  EXPECT_EQ(report.totals.known, 2u);
  EXPECT_EQ(failure(report), "");
}

TEST(FilterLeaks, MovesTheRestToOmitted) {
  Report report = sample();
  report.leaks[0].known = true;
  recount_hidden(report);
  filter_leaks(report, [](const Leak& each) { return each.kind == Kind::stale; });
  ASSERT_EQ(report.leaks.size(), 1u);
  EXPECT_EQ(report.totals.omitted_lost->bytes, 1100u);
  EXPECT_EQ(report.totals.omitted_lost->blocks, 12u);
  EXPECT_EQ(report.totals.omitted_forgotten->blocks, 1u);
  EXPECT_FALSE(report.totals.omitted_stale.has_value());
  EXPECT_EQ(report.totals.known, 0u);
  EXPECT_EQ(failure(report), "");
}

TEST(FilterLeaks, KeepingAllChangesNothing) {
  Report report = sample();
  const Report before = report;
  filter_leaks(report, [](const Leak&) { return true; });
  EXPECT_EQ(report, before);
}

std::vector<std::string> order(Report report, SortKey key) {
  sort_leaks(report, key);
  std::vector<std::string> names;
  for (const Leak& each : report.leaks) names.push_back(each.allocation.stack[0].function);
  return names;
}

TEST(SortLeaks, PutsKindFirst) {
  std::vector<Leak> leaks = {leak(stack({"f"}), 900), leak(stack({"s"}), 500),
                             leak(stack({"l"}), 1)};
  leaks[0].kind = Kind::forgotten;
  leaks[1].kind = Kind::stale;
  for (const auto& [key, name] : kNames<SortKey>) {
    EXPECT_THAT(order(report_of(leaks), key), ElementsAre("l", "s", "f")) << name;
  }
}

TEST(SortLeaks, ByBytesAndBlocksWithWhatHangsOnThem) {
  std::vector<Leak> leaks = {leak(stack({"small"}), 10, 9), leak(stack({"large"}), 100, 1),
                             leak(stack({"chain"}), 1, 1)};
  leaks[2].indirect.bytes = 1000;
  leaks[2].indirect.blocks = 2;
  EXPECT_THAT(order(report_of(leaks), SortKey::bytes), ElementsAre("chain", "large", "small"));
  EXPECT_THAT(order(report_of(leaks), SortKey::blocks), ElementsAre("small", "chain", "large"));
}

TEST(SortLeaks, ByAgeWithUnknownLast) {
  std::vector<Leak> leaks = {leak(stack({"none"}), 999), leak(stack({"low"})),
                             leak(stack({"high"}))};
  leaks[1].age.emplace().drag = 1;
  leaks[1].age->growth = 9;
  leaks[2].age.emplace().drag = 5;
  leaks[2].age->growth = -1;
  EXPECT_THAT(order(report_of(leaks), SortKey::drag), ElementsAre("high", "low", "none"));
  EXPECT_THAT(order(report_of(leaks), SortKey::growth), ElementsAre("low", "high", "none"));
}

TEST(SortLeaks, ByFileAndLine) {
  const std::vector<Leak> leaks = {
      leak({frame("unknown")}, 999), leak({frame("b9", "b.c", 9)}), leak({frame("a20", "a.c", 20)}),
      leak({frame("a3:7", "a.c", 3, 7)}), leak({frame("a3:1", "a.c", 3, 1)})};
  EXPECT_THAT(order(report_of(leaks), SortKey::file),
              ElementsAre("a3:1", "a3:7", "a20", "b9", "unknown"));
}

TEST(SortLeaks, EqualFiguresAreOrderedById) {
  std::vector<Leak> leaks = {leak(stack({"x"})), leak(stack({"y"})), leak(stack({"z"}))};
  leaks[0].id = "2";
  leaks[1].id = "3";
  leaks[2].id = "1";
  EXPECT_THAT(order(report_of(leaks), SortKey::bytes), ElementsAre("z", "x", "y"));
}

}  // namespace
}  // namespace plumb
