#include "report/text_flow.h"

#include <gtest/gtest.h>

namespace plumb {
namespace {

Page page(std::size_t width, bool color = false) { return Page{width, color}; }

TEST(Paragraph, BreaksAtBlanks) {
  EXPECT_EQ(Paragraph(0, 4).add("one two three").render(page(8)), "one two\n    three\n");
  EXPECT_EQ(Paragraph(2, 4).add("one two").render(page(80)), "  one two\n");
}

TEST(Paragraph, AWordWiderThanThePageStandsAlone) {
  EXPECT_EQ(Paragraph(0, 2).add("a very-long-word b").render(page(6)),
            "a\n  very-long-word\n  b\n");
}

TEST(Paragraph, PiecesWithoutBlankAreOneWord) {
  EXPECT_EQ(Paragraph(0, 0).add("ab cd").add("ef").add(":").render(page(6)), "ab\ncdef:\n");
}

TEST(Paragraph, GluedTextStaysTogether) {
  EXPECT_EQ(Paragraph(0, 0).add("one").glue(" two").add(" three").render(page(5)),
            "one two\nthree\n");
}

TEST(Paragraph, NoBlanksAtTheEndsOfLines) {
  EXPECT_EQ(Paragraph(0, 0).add("one ").add(" two ").render(page(4)), "one\ntwo\n");
  EXPECT_EQ(Paragraph(0, 0).add("").render(page(4)), "\n");
}

TEST(Paragraph, ColoursTakeNoColumns) {
  EXPECT_EQ(Paragraph(0, 0).add("one two", Tone::lost).add(" three").render(page(7, true)),
            "\x1b[1;31mone two\x1b[0m\nthree\n");
}

TEST(Page, PaintsOnlyWithColours) {
  EXPECT_EQ(page(80, false).paint("x", Tone::lost), "x");
  EXPECT_EQ(page(80, true).paint("x", Tone::lost), "\x1b[1;31mx\x1b[0m");
  EXPECT_EQ(page(80, true).paint("x", Tone::plain), "x");
  EXPECT_EQ(page(80, true).paint("", Tone::lost), "");
}

}  // namespace
}  // namespace plumb
