#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace plumb {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "plumb-file-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const char* name) const { return (directory_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  fs::path directory_;
};

TEST_F(FileTest, WhatIsWrittenIsRead) {
  const std::string content("a\0b\n\xFF", 5);
  ASSERT_TRUE(write_file(path("x"), content));
  EXPECT_EQ(read_file(path("x")).value(), content);
  ASSERT_TRUE(write_file(path("x"), ""));
  EXPECT_EQ(read_file(path("x")).value(), "");
  EXPECT_EQ(files(), 1u);  // no temporary file is left
}

TEST_F(FileTest, LargeFilesAreWhole) {
  const std::string content(3 << 20, 'x');
  ASSERT_TRUE(write_file(path("x"), content));
  EXPECT_EQ(read_file(path("x")).value(), content);
}

TEST_F(FileTest, ErrorsNameTheFile) {
  const Result<std::string> missing = read_file(path("missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where, path("missing"));
  EXPECT_EQ(missing.error().what, "cannot open: No such file or directory");

  const Result<std::string> directory = read_file(directory_.string());
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().what, "cannot read: Is a directory");

  const Result<void> nowhere = write_file(path("no/such/x"), "a");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().where, path("no/such/x"));
}

TEST_F(FileTest, ReadsWhatHasNoSize) { EXPECT_FALSE(read_file("/proc/self/status")->empty()); }

TEST_F(FileTest, ASymbolicLinkStaysOne) {
  ASSERT_TRUE(write_file(path("target"), "old"));
  ASSERT_EQ(symlink("target", path("link").c_str()), 0);
  ASSERT_TRUE(write_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")).value(), "new");
}

TEST_F(FileTest, PermissionsStay) {
  ASSERT_TRUE(write_file(path("x"), "old"));
  ASSERT_EQ(chmod(path("x").c_str(), 0600), 0);
  ASSERT_TRUE(write_file(path("x"), "new"));
  struct stat info{};
  ASSERT_EQ(stat(path("x").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(FileTest, ATemporaryFileThatIsThereIsNotFollowed) {
  ASSERT_TRUE(write_file(path("victim"), "precious"));
  const std::string temporary = path("x") + "." + std::to_string(getpid()) + ".tmp";
  ASSERT_EQ(symlink("victim", temporary.c_str()), 0);
  ASSERT_TRUE(write_file(path("x"), "new"));
  EXPECT_EQ(read_file(path("victim")).value(), "precious");
  EXPECT_EQ(read_file(path("x")).value(), "new");
}

TEST_F(FileTest, DevicesAreWrittenInto) {
  EXPECT_TRUE(write_file("/dev/null", "gone"));
  const Result<void> full = write_file("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().what, "cannot write: No space left on device");
}

}  // namespace
}  // namespace plumb
