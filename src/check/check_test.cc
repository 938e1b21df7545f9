#include "check/check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"

namespace plumb::check {
namespace {

std::string models() {
  const std::filesystem::path here(PLUMB_TEST_DATA);
  const Result<std::string> text =
      read_file((here / "../../../models/c.models").lexically_normal().string());
  EXPECT_TRUE(text);
  return text.value_or("");
}

Report check_source(const std::string& source) {
  const std::string path = testing::TempDir() + "/plumb_check_test.c";
  EXPECT_TRUE(write_file(path, source));
  CheckOptions options;
  options.jobs.push_back({"", path, {path}});
  options.models = models();
  Result<CheckOutcome> outcome = check_program(options);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message());
  return outcome ? outcome->report : Report{};
}

TEST(Check, FindsTheEarlyReturnAndNotItsTwin) {
  const Report report = check_source(R"(
#include <stdlib.h>
void bad(int n) {
  char *p = malloc(16);
  if (n > 9) return;
  free(p);
}
void ok(int n) {
  char *p = malloc(16);
  if (n > 9) { free(p); return; }
  free(p);
}
)");
  ASSERT_EQ(report.leaks.size(), 1u);
  EXPECT_EQ(report.leaks[0].allocation.stack.front().line, 4u);
  EXPECT_EQ(report.leaks[0].loss->stack.front().function, "bad");
  EXPECT_EQ(report.leaks[0].loss->holder->name, "p");
}

TEST(Check, FollowsWrappersAndReturnCodes) {
  const Report report = check_source(R"(
#include <stdlib.h>
static int make(char **out, int n) {
  if (n < 0) return -1;
  *out = malloc(n);
  return 0;
}
static void drop(char *p) { free(p); }
void ok(int n) {
  char *p;
  if (make(&p, n) != 0) return;
  drop(p);
}
void bad(int n) {
  char *p;
  if (make(&p, n) != 0) return;
  p[0] = 1;
}
)");
  ASSERT_EQ(report.leaks.size(), 1u);
  EXPECT_EQ(report.leaks[0].allocation.stack.size(), 2u);
  EXPECT_EQ(report.leaks[0].loss->stack.front().function, "bad");
}

TEST(Check, AUnitThatDoesNotCompileIsAnError) {
  const std::string path = testing::TempDir() + "/plumb_check_broken.c";
  ASSERT_TRUE(write_file(path, "int main( {"));
  CheckOptions options;
  options.jobs.push_back({"", path, {path}});
  options.models = models();
  const Result<CheckOutcome> report = check_program(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().where, path);
}

}  // namespace
}  // namespace plumb::check
