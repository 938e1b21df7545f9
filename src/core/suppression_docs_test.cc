// The examples of the user's page are what the parsers read.
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "core/suppression.h"

namespace plumb {
namespace {

TEST(SuppressionDocs, EveryExampleParses) {
  const Result<std::string> page = read_file(PLUMB_TEST_DATA "/../../../docs/suppressions.md");
  ASSERT_TRUE(page) << page.error().message();
  std::size_t examples = 0;
  std::string example;
  bool inside = false;
  for (const std::string_view line : split(*page, '\n')) {
    if (line == "```toml" || line == "```supp") {
      inside = true;
      example.clear();
    } else if (line == "```" && inside) {
      inside = false;
      ++examples;
      const auto parsed = parse_suppressions(example, "example");
      EXPECT_TRUE(parsed && !parsed->empty()) << example;
    } else if (inside) {
      example += std::string(line) + '\n';
    }
  }
  EXPECT_EQ(examples, 3u);
}

}  // namespace
}  // namespace plumb
