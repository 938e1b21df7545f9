#include "base/paths.h"

#include <unistd.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace plumb {
namespace {

TEST(Paths, ExecutableIsThisTest) {
  const Result<std::string> path = executable_path();
  ASSERT_TRUE(path);
  EXPECT_EQ(path->front(), '/');
  EXPECT_EQ(access(path->c_str(), X_OK), 0);
}

TEST(Paths, InstalledLayoutComesFirst) {
  const std::vector<std::string> places = support_candidates("/opt/p/bin/plumb", "a.so");
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(places.front(), "/opt/p/lib/plumb/a.so");
}

TEST(Paths, LooksFurtherUpInABuildTree) {
  const std::vector<std::string> places = support_candidates("/b/tree/src/run/the_test", "a.so");
  EXPECT_NE(std::find(places.begin(), places.end(), "/b/tree/lib/plumb/a.so"), places.end());
}

TEST(Paths, EndsAtTheRoot) {
  for (const std::string& place : support_candidates("/plumb", "a.so")) {
    EXPECT_EQ(place.front(), '/');
  }
  EXPECT_TRUE(support_candidates("", "a.so").empty());
}

TEST(Paths, MissingFileSaysWhereItBelongs) {
  const Result<std::string> path = support_file("no-such-file.so");
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().where, "no-such-file.so");
  EXPECT_NE(path.error().hint.find("lib/plumb/no-such-file.so"), std::string::npos);
}

}  // namespace
}  // namespace plumb
