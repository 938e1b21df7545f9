// The examples of the user's page, and files as other tools' users have them.
#include <gmock/gmock.h>
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

std::vector<std::string> labels(const char* name) {
  const Result<std::string> text = read_file(std::string(PLUMB_TEST_DATA "/") + name);
  if (!text) return {text.error().message()};
  const auto parsed = parse_suppressions(*text, name);
  if (!parsed) return {parsed.error().message()};
  std::vector<std::string> list;
  for (const Suppression& entry : *parsed) list.push_back(entry.label());
  return list;
}

TEST(SuppressionFiles, OfOtherToolsAreRead) {
  EXPECT_THAT(labels("memcheck.supp"),
              testing::ElementsAre("memcheck.supp:2 (<insert_a_suppression_name_here>)",
                                   "memcheck.supp:15 (glib: type registration)",
                                   "memcheck.supp:38 (std::string pool)"));
  EXPECT_THAT(labels("lsan.txt"),
              testing::ElementsAre("lsan.txt:2 (leak:libfontconfig.so)",
                                   "lsan.txt:3 (leak:^g_type_register_static$)",
                                   "lsan.txt:7 (leak:src/third_party/*/init.c)"));
}

}  // namespace
}  // namespace plumb
