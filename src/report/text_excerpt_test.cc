#include "report/text_excerpt.h"

#include <gtest/gtest.h>

#include <string>

namespace plumb {
namespace {

const std::string kServer = PLUMB_TEST_DATA "/shop/server.c";

std::string excerpt(std::vector<Mark> marks, std::size_t width = 80) {
  SourceCache sources;
  return write_excerpt(sources, kServer, std::move(marks), Page{width, false});
}

TEST(Excerpt, MarksTheWordAtTheColumn) {
  EXPECT_EQ(excerpt({{18, 13, "allocated here", Tone::allocation}}),
            "    18 |   char *p = malloc(n);\n"
            "       |             ^~~~~~ allocated here\n");
}

TEST(Excerpt, WithoutColumnTheLineIsMeant) {
  const std::string whole =
      "    22 |   return p;\n"
      "       |   ~~~~~~~~~ lost here\n";
  EXPECT_EQ(excerpt({{22, std::nullopt, "lost here", Tone::lost}}), whole);
  EXPECT_EQ(excerpt({{22, 0, "lost here", Tone::lost}}), whole);
  EXPECT_EQ(excerpt({{22, 500, "lost here", Tone::lost}}), whole);  // not the file compiled
}

TEST(Excerpt, SourceOrderWithGaps) {
  EXPECT_EQ(excerpt({{31, 9, "lost", Tone::lost},
                     {29, 5, "used", Tone::use},
                     {18, 13, "made", Tone::allocation}}),
            "    18 |   char *p = malloc(n);\n"
            "       |             ^~~~~~ made\n"
            "   ...\n"
            "    29 |     send_reply(c, buf);\n"
            "       |     ^~~~~~~~~~ used\n"
            "    30 |     c->pending = NULL;\n"
            "    31 |     buf = grow(c, 4096);\n"
            "       |         ^ lost\n");
}

TEST(Excerpt, SeveralMarksOnALine) {
  EXPECT_EQ(excerpt({{31, 11, "made", Tone::allocation},
                     {31, 9, "lost", Tone::lost},
                     {31, 11, "used", Tone::use}}),
            "    31 |   buf = grow(c, 4096);\n"
            "       |       ^ lost\n"
            "       |         ^~~~ made, used\n");
}

TEST(Excerpt, DeepIndentationAndTabsAreTakenOff) {
  EXPECT_EQ(excerpt({{38, 14, "here", Tone::use}}),
            "    38 |   out->size = strlen(out->body);\n"
            "       |               ^~~~~~ here\n");
}

TEST(Excerpt, WideLinesAreCutAroundTheMark) {
  // The umlauts before the mark take two bytes and one column each.
  EXPECT_EQ(excerpt({{43, 100, "allocated here", Tone::allocation}}),
            "    43 | …dup(\"a quite long statement that does not fit\"), *b = strdup(c->name);\n"
            "       |                                         allocated here ^~~~~~\n");
  EXPECT_EQ(excerpt({{43, 3, "here", Tone::use}}, 40),
            "    43 |   const char *a = \"größe\"; cha…\n"
            "       |   ^~~~~ here\n");
}

TEST(Excerpt, LabelsGoWhereTheyFit) {
  EXPECT_EQ(excerpt({{29, 19, "last used here", Tone::use}}, 36),
            "    29 |   send_reply(c, buf);\n"
            "       |  last used here ^~~\n");
  EXPECT_EQ(excerpt({{29, 12, "last used somewhere near", Tone::use}}, 36),
            "    29 |   send_reply(c, buf);\n"
            "       |          ^~~\n"
            "       |    last used somewhere near\n");
}

TEST(Excerpt, NothingToQuote) {
  EXPECT_EQ(excerpt({}), "");
  EXPECT_EQ(excerpt({{5000, 1, "x", Tone::use}}), "");
  EXPECT_EQ(excerpt({{5, 1, "x", Tone::use}}), "");  // a blank line
  SourceCache sources;
  EXPECT_EQ(write_excerpt(sources, "/no/such/file.c", {{1, 1, "x", Tone::use}}, Page{}), "");
}

TEST(Excerpt, NoWidthIsTooSmall) {
  for (std::size_t width = 0; width < 60; ++width) {
    EXPECT_NE(
        excerpt({{43, 100, "allocated here", Tone::allocation}, {18, 13, "x", Tone::use}}, width),
        "");
  }
}

}  // namespace
}  // namespace plumb
