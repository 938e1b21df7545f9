#include "base/names.h"

#include <gtest/gtest.h>

namespace plumb {

enum class Fruit { apple, sour_cherry };
template <>
inline constexpr auto kNames<Fruit> =
    name_table<Fruit>({{Fruit::apple, "apple"}, {Fruit::sour_cherry, "sour-cherry"}});

namespace {

TEST(Names, GoBothWays) {
  static_assert(name_of(Fruit::sour_cherry) == "sour-cherry");
  EXPECT_EQ(value_of<Fruit>("sour-cherry"), Fruit::sour_cherry);
  EXPECT_EQ(value_of<Fruit>("apple"), Fruit::apple);
}

TEST(Names, UnknownWordsHaveNoValue) {
  EXPECT_EQ(value_of<Fruit>("sour_cherry"), std::nullopt);
  EXPECT_EQ(value_of<Fruit>(""), std::nullopt);
  EXPECT_EQ(name_of(static_cast<Fruit>(7)), "?");
}

}  // namespace
}  // namespace plumb
