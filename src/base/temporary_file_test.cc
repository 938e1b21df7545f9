#include "base/temporary_file.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <gtest/gtest.h>

namespace plumb {
namespace {

TEST(TemporaryFile, IsGoneWithItsOwner) {
  std::string path;
  {
    Result<TemporaryFile> file = TemporaryFile::create(".c");
    ASSERT_TRUE(file);
    path = file->path();
    EXPECT_TRUE(path.ends_with(".c")) << path;
    EXPECT_TRUE(std::filesystem::exists(path));
    const TemporaryFile other = std::move(*file);
    EXPECT_EQ(other.path(), path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryFile, AFolderThatIsNotThereIsNamed) {
  const char* before = std::getenv("TMPDIR");
  const std::optional<std::string> kept =
      before ? std::optional<std::string>(before) : std::nullopt;
  setenv("TMPDIR", "/nowhere/at/all", 1);
  const Result<TemporaryFile> file = TemporaryFile::create();
  kept ? setenv("TMPDIR", kept->c_str(), 1) : unsetenv("TMPDIR");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().where, "/nowhere/at/all");
  EXPECT_NE(file.error().hint.find("TMPDIR"), std::string::npos);
}

}  // namespace
}  // namespace plumb
