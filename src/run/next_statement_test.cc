#include "run/next_statement.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "base/file.h"

namespace plumb {
namespace {

std::optional<std::uint32_t> after(const std::string& text, std::uint32_t line = 1) {
  const std::string path = testing::TempDir() + "next_statement.c";
  EXPECT_TRUE(write_file(path, text));
  SourceCache sources;
  return next_statement(sources, path, line);
}

TEST(NextStatement, Follows) {
  EXPECT_EQ(after("  use(p);\n  free(box);\n"), 2U);
  EXPECT_EQ(after("use(p);  // free(p);\n\n/* free(p);\n */ free(box);\n"), 4U);
  EXPECT_EQ(after("use(p,\n    \"a;b\",\n    ';');\ndelete box;\n"), 4U);
  EXPECT_EQ(after("use(p);\n}\n"), 2U);
  EXPECT_EQ(after("long x = use(p);\nif (x) return;\n"), 2U);
  EXPECT_EQ(after("int main() {\n  use(p);\n  std::free(p);\n}\n", 2), 3U);
}

TEST(NextStatement, IsNotKnown) {
  for (const char* text : {
           "return use(p);\nfree(p);\n",            // leaves
           "if (use(p)) go();\nfree(p);\n",         // perhaps
           "if (use(p)) {\nfree(p);\n}\n",          //
           "use(p); free(q);\nfree(p);\n",          // in the same line
           "{ use(p); }\nfree(p);\n",               //
           "p = next(p);\nfree(p);\n",              // set by the statement itself
           "use(p);\nelse\nfree(p);\n",             // not what runs next
           "use(p);\nout:\nfree(p);\n",             //
           "use(p);\n#ifdef A\nfree(p);\n#endif\n"  //
           "use(p",                                 // no end
           "",
       }) {
    EXPECT_EQ(after(text), std::nullopt) << text;
  }
}

TEST(NextStatement, SetsFromItself) {
  const auto sets = [](const std::string& text) {
    const std::string path = testing::TempDir() + "sets_from_itself.c";
    EXPECT_TRUE(write_file(path, text));
    SourceCache sources;
    return sets_from_itself(sources, path, 1, "data");
  };
  EXPECT_TRUE(sets("data = realloc(data, 10);\n"));
  EXPECT_TRUE(sets("  data = next(1,\n      data);\n"));
  EXPECT_FALSE(sets("other = realloc(data, 10);\n"));
  EXPECT_FALSE(sets("data = malloc(10);\n"));
  EXPECT_FALSE(sets("data == use(data);\n"));
  EXPECT_FALSE(sets("if (data = next(data)) return;\n"));
}

TEST(NextStatement, NeedsTheFile) {
  SourceCache sources;
  EXPECT_EQ(next_statement(sources, "/nonexistent/file.c", 1), std::nullopt);
}

}  // namespace
}  // namespace plumb
