#include "check/cache/unit_cache.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "check/model/unit_file.h"

namespace plumb::check {
namespace {

namespace fs = std::filesystem;

class UnitCacheTest : public ::testing::Test {
 protected:
  UnitCacheTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write("a.h", "int *a(void);\n");
    write("a.c", "#include \"a.h\"\nint *a(void) { return 0; }\n");
  }
  ~UnitCacheTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(write_file(folder_ + "/" + name, text));
  }
  // How many of the units came from the cache, in a run of its own.
  std::uint64_t found(const std::vector<std::string>& flags = {}) {
    UnitCache cache(folder_ + "/cache");
    CompileJob job{folder_, "a.c", flags};
    job.arguments.push_back("a.c");
    const Result<Unit> unit = cache.unit(job);
    EXPECT_TRUE(unit) << unit.error().message();
    if (unit) {
      EXPECT_EQ(unit_bytes(*unit), unit_bytes(*compile_unit(job)));
    }
    return cache.found();
  }
  std::vector<fs::path> kept(const std::string& ending) {
    std::vector<fs::path> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/cache")) {
      if (entry.path().extension() == ending) out.push_back(entry.path());
    }
    return out;
  }

  const std::string folder_ = ::testing::TempDir() + "plumb_unit_cache_test";
};

TEST_F(UnitCacheTest, FindsWhatIsUnchanged) {
  EXPECT_EQ(found(), 0u);
  EXPECT_EQ(found(), 1u);
}

TEST_F(UnitCacheTest, FollowsTheSourceItsHeadersAndTheFlags) {
  EXPECT_EQ(found(), 0u);
  write("a.h", "int *a(void);\nextern int b;\n");
  EXPECT_EQ(found(), 0u);
  EXPECT_EQ(found(), 1u);
  write("a.c", "#include \"a.h\"\nint *a(void) { return &b; }\n");
  EXPECT_EQ(found(), 0u);
  EXPECT_EQ(found({"-DX"}), 0u);
  EXPECT_EQ(found({"-DX"}), 1u);
  // What it was before is still there.
  write("a.c", "#include \"a.h\"\nint *a(void) { return 0; }\n");
  EXPECT_EQ(found(), 1u);
}

TEST_F(UnitCacheTest, ADamagedUnitIsCompiledAgain) {
  EXPECT_EQ(found(), 0u);
  const std::vector<fs::path> units = kept(".unit");
  ASSERT_EQ(units.size(), 1u);
  fs::resize_file(units[0], fs::file_size(units[0]) / 2);
  EXPECT_EQ(found(), 0u);
  EXPECT_EQ(found(), 1u);
}

TEST_F(UnitCacheTest, SaysWhenItCannotKeep) {
  write("cache", "in the way");
  UnitCache cache(folder_ + "/cache");
  EXPECT_TRUE(cache.unit({folder_, "a.c", {"a.c"}}));
  EXPECT_NE(cache.problem(), "");
}

TEST_F(UnitCacheTest, AnErrorIsNotKept) {
  write("a.c", "int main(void) {");
  UnitCache cache(folder_ + "/cache");
  EXPECT_FALSE(cache.unit({folder_, "a.c", {"a.c"}}));
  EXPECT_FALSE(fs::exists(folder_ + "/cache"));
}

TEST_F(UnitCacheTest, RemovesWhatWasNotUsedForLongest) {
  EXPECT_EQ(found(), 0u);
  EXPECT_EQ(found({"-DX"}), 0u);
  std::vector<fs::path> units = kept(".unit");
  ASSERT_EQ(units.size(), 2u);
  fs::last_write_time(units[0], fs::file_time_type::clock::now() - std::chrono::hours(1));
  const std::uint64_t bytes = fs::file_size(units[0]) + fs::file_size(units[1]);
  UnitCache(folder_ + "/cache").trim(bytes);
  EXPECT_FALSE(fs::exists(units[0]));
  EXPECT_TRUE(fs::exists(units[1]));
}

}  // namespace
}  // namespace plumb::check
