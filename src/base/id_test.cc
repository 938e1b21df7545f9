#include "base/id.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace plumb {
namespace {

struct AppleId : Id<AppleId> {};
struct PearId : Id<PearId> {};

TEST(Id, ComparesByIndex) {
  EXPECT_EQ(AppleId::of(3), AppleId::of(3));
  EXPECT_LT(AppleId::of(3), AppleId::of(4));
  EXPECT_NE(AppleId::of(0), AppleId::of(1));
}

TEST(Id, KindsDoNotMix) {
  static_assert(!std::is_convertible_v<AppleId, PearId>);
  static_assert(!std::is_constructible_v<PearId, AppleId>);
}

}  // namespace
}  // namespace plumb
