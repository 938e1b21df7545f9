#include "base/check.h"

#include <gtest/gtest.h>

namespace plumb {
namespace {

TEST(CheckDeathTest, SaysWhatBrokeAndStops) {
  const int one = 1;
  EXPECT_DEATH(PLUMB_CHECK(one == 2), "internal error: .*check_test.cc:[0-9]+: one == 2");
}

TEST(Check, PassesWhatHolds) {
  int evaluated = 0;
  PLUMB_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace plumb
