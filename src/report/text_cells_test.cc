#include "report/text_cells.h"

#include <gtest/gtest.h>

namespace plumb {
namespace {

TEST(Printable, PlainTextIsKept) {
  EXPECT_EQ(printable("grow(int, char const*)"), "grow(int, char const*)");
  EXPECT_EQ(printable("größe 数据 👍"), "größe 数据 👍");
}

TEST(Printable, WhatATerminalWouldActOnIsShown) {
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable("a\nb\tc\rd\x7f"), "a\\x0ab\\x09c\\x0dd\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\u009b31m"), "\\u{9b}31m");                     // CSI in one character
  EXPECT_EQ(printable("user\u202E\u2066"), "user\\u{202e}\\u{2066}");  // text runs backwards
  EXPECT_EQ(printable("\u200b\ufeff"), "\\u{200b}\\u{feff}");
}

TEST(Printable, BytesThatAreNoUtf8AreShown) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("a\xe2\x82"), "a\\xe2\\x82");         // cut off
}

TEST(Columns, WideAndCombining) {
  EXPECT_EQ(columns("abc"), 3U);
  EXPECT_EQ(columns("größe"), 5U);
  EXPECT_EQ(columns("数据"), 4U);
  EXPECT_EQ(columns("e\u0301"), 1U);
  EXPECT_EQ(columns("👍"), 2U);
}

TEST(Shortened, KeepsBothEnds) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("abcdefghij", 6), "ab…hij");
  EXPECT_EQ(shortened("abcdefghij", 1), "…");
  EXPECT_EQ(shortened("abcdefghij", 0), "");
}

TEST(Shortened, NeverWiderThanAsked) {
  for (std::size_t most = 0; most < 20; ++most) {
    EXPECT_LE(columns(shortened("数据库::連接::open_connection", most)), most);
  }
}

TEST(CutColumns, HalvesOfWideCharactersBecomeBlanks) {
  EXPECT_EQ(cut_columns("abcdef", 2, 3), "cde");
  EXPECT_EQ(cut_columns("数据库", 1, 3), " 据");
  EXPECT_EQ(cut_columns("数据库", 0, 3), "数");
  EXPECT_EQ(cut_columns("abc", 5, 3), "");
}

TEST(Cells, BytesMapToColumns) {
  const Cells cells = cells_of(
      "\ta\xC3\xB6\x1b"
      "数x");
  EXPECT_EQ(cells.text, "        aö\\x1b数x");
  EXPECT_EQ(cells.column_of, (std::vector<std::size_t>{0, 8, 9, 9, 10, 14, 14, 14, 16, 17}));
}

}  // namespace
}  // namespace plumb
