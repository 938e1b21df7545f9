#include "base/source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace plumb {
namespace {

class SourceTest : public testing::Test {
 protected:
  SourceTest() {
    std::string name = (std::filesystem::temp_directory_path() / "plumb-source-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~SourceTest() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, const std::string& text) {
    const std::string path = directory_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::filesystem::path directory_;
  SourceCache sources_;
};

TEST_F(SourceTest, LinesCountFromOne) {
  const std::string path = file("a.c", "one\n\ttwo\n\nfour\n");
  EXPECT_TRUE(sources_.has(path));
  EXPECT_EQ(sources_.line(path, 1), "one");
  EXPECT_EQ(sources_.line(path, 2), "\ttwo");
  EXPECT_EQ(sources_.line(path, 3), "");
  EXPECT_EQ(sources_.line(path, 4), "four");
  EXPECT_EQ(sources_.line(path, 0), "");
  EXPECT_EQ(sources_.line(path, 5), "");
  EXPECT_EQ(sources_.line(path, 0xFFFFFFFF), "");
}

TEST_F(SourceTest, LineEndsOfOtherSystemsAndMissingLastOne) {
  const std::string path = file("a.c", "one\r\ntwo\r\nthree");
  EXPECT_EQ(sources_.line(path, 1), "one");
  EXPECT_EQ(sources_.line(path, 2), "two");
  EXPECT_EQ(sources_.line(path, 3), "three");
}

TEST_F(SourceTest, LinesStayValidWhenOtherFilesAreRead) {
  const std::string path = file("a.c", "kept\n");
  const std::string_view line = sources_.line(path, 1);
  for (int i = 0; i < 100; ++i) sources_.has(file(std::to_string(i), "x\n"));
  EXPECT_EQ(line, "kept");
}

TEST_F(SourceTest, WhatIsNoSourceIsNotQuoted) {
  EXPECT_FALSE(sources_.has(directory_ / "missing.c"));
  EXPECT_FALSE(sources_.has(directory_));
  EXPECT_FALSE(sources_.has(""));
  EXPECT_FALSE(sources_.has("/dev/zero"));
  EXPECT_FALSE(sources_.has(std::string("/etc/passwd\0.c", 14)));
  EXPECT_FALSE(sources_.has(file("empty.c", "")));
  EXPECT_FALSE(sources_.has(file("binary", std::string("a\0b\n", 4))));
  EXPECT_EQ(sources_.line(directory_ / "missing.c", 1), "");
}

TEST_F(SourceTest, PipeDoesNotBlock) {
  const std::string path = directory_ / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(sources_.has(path));
}

TEST_F(SourceTest, SizesAreBounded) {
  EXPECT_FALSE(sources_.has(file("large.c", std::string(SourceCache::kLargestFile + 1, 'x'))));
  EXPECT_TRUE(sources_.has(file("fits.c", std::string(SourceCache::kLargestFile, 'x'))));
  EXPECT_FALSE(sources_.has(file("lines.c", std::string(SourceCache::kMostLines + 1, '\n'))));
}

}  // namespace
}  // namespace plumb
