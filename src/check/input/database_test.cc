#include "check/input/database.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "check/input/observe.h"

namespace plumb::check {
namespace {

Result<std::vector<CompileJob>> read(const std::string& text) {
  const std::string path = testing::TempDir() + "/compile_commands.json";
  EXPECT_TRUE(write_file(path, text));
  return read_database(path);
}

TEST(Database, ReadsArgumentsAndCommands) {
  const auto jobs = read(R"([
    {"directory": "/d", "file": "a.c", "arguments": ["cc", "-DA", "-c", "a.c"]},
    {"directory": "/d", "file": "b.c", "command": "cc -DB='x y' -c b.c -o b.o"}])");
  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ((*jobs)[0].file, "a.c");
  EXPECT_EQ((*jobs)[1].arguments[0], "-DB=x y");
}

TEST(Database, SaysWhatIsWrongAndWhere) {
  EXPECT_NE(read("[{").error().where.find("byte"), std::string::npos);
  EXPECT_NE(read("{}").error().what.find("list of objects"), std::string::npos);
  EXPECT_NE(read(R"([{"directory": "/d"}])").error().where.find("entry 0"), std::string::npos);
  EXPECT_NE(read(R"([{"command": "cc -c a.c"}])").error().what.find("directory"),
            std::string::npos);
  EXPECT_FALSE(read(R"([{"directory": 1, "command": 2}])"));
  EXPECT_FALSE(read(R"([{"directory": "/d", "arguments": [1]}])"));
  EXPECT_FALSE(read(std::string(200'000, '[')));
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read_database("/nonexistent"));
}

TEST(Observe, ReadsRecordsOfCompilers) {
  using namespace std::string_literals;
  const std::string whole = "/d\0gcc\0-c\0a.c\0\0"s;
  const std::string other = "/d\0make\0all\0\0"s;
  const std::string cut = "/d\0gcc\0-c\0b"s;
  const auto jobs = jobs_of_records(whole + other + cut);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].directory, "/d");
  EXPECT_EQ(jobs[0].file, "a.c");
  EXPECT_TRUE(jobs_of_records("").empty());
}

}  // namespace
}  // namespace plumb::check
