#include "trace/interval_map.h"

#include <gtest/gtest.h>

#include <random>

namespace plumb {
namespace {

TEST(IntervalMap, FindsTheRangeThatHoldsAnAddress) {
  IntervalMap<char> map;
  map.add(30, 40, 'c');
  map.add(10, 20, 'a');
  map.add(20, 25, 'b');
  map.finish();
  EXPECT_EQ(map.find(9), nullptr);
  EXPECT_EQ(*map.find(10), 'a');
  EXPECT_EQ(*map.find(19), 'a');
  EXPECT_EQ(*map.find(20), 'b');
  EXPECT_EQ(map.find(25), nullptr);
  EXPECT_EQ(*map.find(39), 'c');
  EXPECT_EQ(map.find(40), nullptr);
  EXPECT_EQ(map.find(UINT64_MAX), nullptr);
}

TEST(IntervalMap, EmptyAndBackwardRangesAreIgnored) {
  IntervalMap<int> map;
  map.add(5, 5, 1);
  map.add(9, 3, 2);
  EXPECT_EQ(map.pending(), 0U);
  map.finish();
  EXPECT_EQ(map.find(5), nullptr);
}

TEST(IntervalMap, TheInnerRangeWinsAndTheOuterGoesOnAfterIt) {
  IntervalMap<int> map;
  map.add(0, 100, 1);
  map.add(10, 50, 2);
  map.add(20, 30, 3);
  map.finish();
  EXPECT_EQ(*map.find(5), 1);
  EXPECT_EQ(*map.find(15), 2);
  EXPECT_EQ(*map.find(25), 3);
  EXPECT_EQ(*map.find(45), 2);
  EXPECT_EQ(*map.find(99), 1);
}

TEST(IntervalMap, RankComesBeforePlace) {
  IntervalMap<int> map;
  map.add(0, 100, 1, 5);
  map.add(10, 50, 2, 1);
  map.finish();
  EXPECT_EQ(*map.find(20), 1);
}

// Against the rule as it is written in the header, over all addresses.
TEST(IntervalMap, AgreesWithASearchOfAllRanges) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    struct Range {
      std::uint64_t begin, end;
      std::uint32_t rank;
    };
    std::vector<Range> ranges;
    IntervalMap<std::size_t> map;
    for (std::size_t i = 0; i < random() % 12; ++i) {
      const Range range{random() % 40, random() % 40, static_cast<std::uint32_t>(random() % 3)};
      if (range.begin >= range.end) continue;
      map.add(range.begin, range.end, ranges.size(), range.rank);
      ranges.push_back(range);
    }
    map.finish();
    for (std::uint64_t at = 0; at < 45; ++at) {
      const Range* best = nullptr;
      for (const Range& range : ranges) {
        if (at < range.begin || at >= range.end) continue;
        if (best == nullptr || std::tuple(range.rank, range.begin, best->end) >
                                   std::tuple(best->rank, best->begin, range.end)) {
          best = &range;
        }
      }
      const std::size_t* found = map.find(at);
      ASSERT_EQ(found == nullptr, best == nullptr);
      if (found != nullptr) EXPECT_EQ(&ranges[*found], best) << "at " << at;
    }
  }
}

}  // namespace
}  // namespace plumb
