#include "report/sarif_uri.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace plumb {
namespace {

std::string uri(std::string_view root, std::string_view path) {
  return UriMaker(root).file(path).uri;
}
bool below(std::string_view root, std::string_view path) {
  return UriMaker(root).file(path).below_root;
}

TEST(SarifUri, EncodesWhatAPathSegmentMayNotHave) {
  EXPECT_EQ(percent_encoded("/usr/lib/libstdc++.so.6"), "/usr/lib/libstdc++.so.6");
  EXPECT_EQ(percent_encoded("a b%c#d?e"), "a%20b%25c%23d%3Fe");
  EXPECT_EQ(percent_encoded("C:\\x[1]"), "C%3A%5Cx%5B1%5D");
  EXPECT_EQ(percent_encoded("bücher.c"), "b%C3%BCcher.c");
  EXPECT_EQ(percent_encoded(std::string_view("\xFF\0\x1b\n", 4)), "%FF%00%1B%0A");
  EXPECT_EQ(percent_encoded("%20"), "%2520");
}

TEST(SarifUri, PathsBelowTheRootAreRelative) {
  EXPECT_EQ(uri("/src/app", "/src/app/lib/a b.c"), "lib/a%20b.c");
  EXPECT_TRUE(below("/src/app", "/src/app/lib/a b.c"));
  EXPECT_EQ(uri("/src/app/", "/src/app/x.c"), "x.c");
  EXPECT_EQ(uri("/", "/etc/x.c"), "etc/x.c");
}

TEST(SarifUri, OtherPathsAreAbsolute) {
  EXPECT_EQ(uri("/src/app", "/usr/include/x.h"), "file:///usr/include/x.h");
  EXPECT_FALSE(below("/src/app", "/usr/include/x.h"));
  EXPECT_EQ(uri("/src/app", "/src/application/x.c"), "file:///src/application/x.c");
  EXPECT_EQ(uri("/src/app", "/src/app"), "file:///src/app");
  EXPECT_EQ(uri("", "/src/app/x.c"), "file:///src/app/x.c");
}

TEST(SarifUri, RelativePathsBelongToTheRoot) {
  EXPECT_EQ(uri("/src/app", "lib/x.c"), "lib/x.c");
  EXPECT_TRUE(below("/src/app", "lib/x.c"));
  EXPECT_EQ(uri("/src/app", "../other/x.c"), "file:///src/other/x.c");
  EXPECT_EQ(uri("", "lib/x.c"), "lib/x.c");
  EXPECT_FALSE(below("", "lib/x.c"));
  EXPECT_EQ(uri("", "http://host/x.c"), "http%3A/host/x.c");
}

TEST(SarifUri, ResolvesDotsInTheText) {
  EXPECT_EQ(uri("/src/app", "/src/app/lib/../x.c"), "x.c");
  EXPECT_EQ(uri("/src/app", "/src/app/../../etc/passwd"), "file:///etc/passwd");
  EXPECT_EQ(uri("/src/app", "./a//b/./c.c"), "a/b/c.c");
  EXPECT_EQ(uri("/src/./x/../app", "/src/app/x.c"), "x.c");
  EXPECT_EQ(uri("", "../x.c"), "../x.c");
  EXPECT_EQ(uri("", "/../../x.c"), "file:///x.c");
}

TEST(SarifUri, DoubledSlashesNameNoHost) {
  EXPECT_EQ(uri("", "//host/x.c"), "file:///host/x.c");
  EXPECT_EQ(uri("", "///x.c"), "file:///x.c");
  EXPECT_EQ(uri("", "/"), "file:///");
  EXPECT_EQ(uri("", "//"), "file:///");
}

TEST(SarifUri, DirectoriesEndWithASlash) {
  const UriMaker maker("");
  EXPECT_EQ(maker.directory("/home/me"), "file:///home/me/");
  EXPECT_EQ(maker.directory("/home/me/"), "file:///home/me/");
  EXPECT_EQ(maker.directory("/"), "file:///");
  EXPECT_EQ(maker.directory("home"), "");
  EXPECT_EQ(maker.directory(""), "");
}

TEST(SarifUri, TheRootIsMadeAbsolute) {
  EXPECT_FALSE(UriMaker("").has_root());
  EXPECT_EQ(UriMaker("/a b/").root_uri(), "file:///a%20b/");
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(UriMaker(".").file(here + "/x.c").uri, "x.c");
}

}  // namespace
}  // namespace plumb
