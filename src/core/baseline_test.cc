#include "core/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/accounting.h"
#include "core/test_leaks.h"

namespace plumb {
namespace {

using test::frame;
using test::leak;
using test::report_of;
using test::stack;
using ::testing::ElementsAre;
using ::testing::Eq;

constexpr auto kNone = std::nullopt;

// Leaks of one function, told apart by their lines only.
Report at_lines(std::initializer_list<std::uint32_t> lines, std::uint32_t function_line = 0) {
  std::vector<Leak> leaks;
  for (const std::uint32_t line : lines) {
    Frame place = frame("work", "a.c", line);
    if (function_line != 0) place.function_line = function_line;
    leaks.push_back(leak({place, frame("main")}));
  }
  return report_of(std::move(leaks));
}

TEST(PairLeaks, PairsByIdentity) {
  const Report before = report_of({leak(stack({"a"})), leak(stack({"b"}))});
  const Report now = report_of({leak(stack({"b"})), leak(stack({"c"})), leak(stack({"a"}))});
  EXPECT_THAT(pair_leaks(before, now), ElementsAre(Eq(1u), Eq(kNone), Eq(0u)));
}

TEST(PairLeaks, KeepsTheOrderOfTheSource) {
  EXPECT_THAT(pair_leaks(at_lines({10, 20, 30}), at_lines({33, 13, 23})),
              ElementsAre(Eq(2u), Eq(0u), Eq(1u)));
}

TEST(PairLeaks, WithFewerTakesTheNearest) {
  EXPECT_THAT(pair_leaks(at_lines({10, 20, 30}), at_lines({21})), ElementsAre(Eq(1u)));
  EXPECT_THAT(pair_leaks(at_lines({10, 20, 30}), at_lines({30, 10})), ElementsAre(Eq(2u), Eq(0u)));
  // All moved by five lines: the least distance in sum still finds them.
  EXPECT_THAT(pair_leaks(at_lines({10, 20, 30}), at_lines({25, 35})), ElementsAre(Eq(1u), Eq(2u)));
}

TEST(PairLeaks, WithMoreLeavesTheNewOne) {
  EXPECT_THAT(pair_leaks(at_lines({10, 30}), at_lines({10, 20, 30})),
              ElementsAre(Eq(0u), Eq(kNone), Eq(1u)));
  EXPECT_THAT(pair_leaks(at_lines({20}), at_lines({10, 20, 30})),
              ElementsAre(Eq(kNone), Eq(0u), Eq(kNone)));
}

TEST(PairLeaks, ComparesRelativeToTheFunction) {
  // The function moved by 10: its second leak now has the line of the third.
  EXPECT_THAT(pair_leaks(at_lines({10, 20, 30}, 5), at_lines({30}, 15)), ElementsAre(Eq(1u)));
}

TEST(PairLeaks, ManyOfOneIdentityArePairedToo) {
  constexpr std::size_t kMany = 3000;
  std::vector<Leak> old_leaks;
  std::vector<Leak> new_leaks;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    old_leaks.push_back(leak({frame("work", "a.c", 10 + i)}));
    if (i % 3 != 0) new_leaks.push_back(old_leaks.back());
  }
  const auto partner = pair_leaks(report_of(old_leaks), report_of(new_leaks));
  for (std::size_t i = 0; i < partner.size(); ++i) {
    ASSERT_TRUE(partner[i].has_value());
    EXPECT_EQ(old_leaks[*partner[i]].allocation.stack, new_leaks[i].allocation.stack);
  }
}

TEST(PairLeaks, OfNothing) {
  EXPECT_TRUE(pair_leaks(Report{}, Report{}).empty());
  EXPECT_THAT(pair_leaks(Report{}, at_lines({1})), ElementsAre(Eq(kNone)));
}

TEST(ApplyBaseline, MarksAndCountsWhatWasThere) {
  Report now = report_of({leak(stack({"a"}), 4096), leak(stack({"new"}))});
  apply_baseline(now, report_of({leak(stack({"a"}), 8)}));
  EXPECT_TRUE(now.leaks[0].known);  // although it grew
  EXPECT_FALSE(now.leaks[1].known);
  EXPECT_EQ(now.totals.known, 1u);
  EXPECT_TRUE(check_totals(now));
}

}  // namespace
}  // namespace plumb
