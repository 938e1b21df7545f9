#include "check/condition_text.h"

#include <gtest/gtest.h>

namespace plumb::check {
namespace {

TEST(ConditionText, EndsWhereTheConditionEnds) {
  EXPECT_EQ(condition_at("  if (n > 9) return;", 7), "n > 9");
  EXPECT_EQ(condition_at("  if (f(a, b[1]) && c) {", 7), "f(a, b[1])");
  EXPECT_EQ(condition_at("  if (f(a) && c) {", 15), "c");
  EXPECT_EQ(condition_at("  while (*p != ')') p++;", 10), "*p != ')'");
  EXPECT_EQ(condition_at("  while (waitpid(p, 0, 0) == -1)", 3), "waitpid(p, 0, 0) == -1");
  EXPECT_EQ(condition_at("  for (i = 0; i < n; i++) free(p[i]);", 3), "i < n");
  EXPECT_EQ(condition_at("  for (;;) x();", 3), "");
  EXPECT_EQ(condition_at("  return a ? b : c;", 10), "a");
  EXPECT_EQ(condition_at("  if (!copy) return;", 7), "copy");
  EXPECT_EQ(condition_at("x", 0), "");
  EXPECT_EQ(condition_at("x", 9), "");
  EXPECT_EQ(condition_at(std::string(500, 'a'), 1).size(), 63u);
}

TEST(ConditionText, FindsTheWordToIgnore) {
  bool found = false;
  EXPECT_EQ(ignore_reason("p = malloc(9); // plumb: ignore: kept until the end", found),
            "kept until the end");
  EXPECT_TRUE(found);
  EXPECT_EQ(ignore_reason("p = malloc(9); /* plumb: ignore */ x();", found), "");
  EXPECT_TRUE(found);
  ignore_reason("puts(\"plumb: ignore\");", found);
  EXPECT_FALSE(found);
}

}  // namespace
}  // namespace plumb::check
