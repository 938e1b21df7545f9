#include "report/text_place.h"

#include <gtest/gtest.h>

#include <string>

#include "report/testdata/sample_report.h"
#include "report/text_cells.h"

namespace plumb {
namespace {

TEST(ShortFunction, OnlyTheName) {
  EXPECT_EQ(short_function("grow"), "grow");
  EXPECT_EQ(short_function("ns::grow(int, char const*) const"), "ns::grow");
  EXPECT_EQ(short_function("void ns::grow<int>(int)"), "ns::grow<int>");
  EXPECT_EQ(short_function("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(short_function("f(int) [clone .isra.0]"), "f");
}

TEST(ShortFunction, LongTemplateArgumentsAreLeftOut) {
  EXPECT_EQ(short_function("std::map<std::string, std::vector<std::string>, "
                           "std::less<std::string> >::operator[](std::string const&)"),
            "std::map<…>::operator[]");
  EXPECT_EQ(short_function("a_rather_long_namespace::Outer<Aa<Bb>, Cc>::Inner<Dd>::put(int)"),
            "a_rather_long_namespace::Outer<…>::Inner<…>::put");
}

TEST(ShortFunction, AnyNameIsShortAndPrintable) {
  for (const std::string& name :
       {std::string(100000, '<'), std::string(100000, '>'), std::string(100000, '('),
        std::string(100000, 'x'), std::string("operator<"), std::string("\x1b"), std::string()}) {
    const std::string text = short_function(name);
    EXPECT_LE(columns(text), 60U);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
}

class PlacesTest : public testing::Test {
 protected:
  Places places(const std::string& here, bool verbose = false) {
    return Places(report_, sources_, here, verbose);
  }
  Report report_ = sample::clean();  // ran in /home/user/shop
  SourceCache sources_;
};

TEST_F(PlacesTest, PathsAreRelativeToTheReaderThenToTheSubject) {
  const Places here = places("/home/user/shop/src");
  EXPECT_EQ(here.file("/home/user/shop/src/a.c"), "a.c");
  EXPECT_EQ(here.file("/home/user/shop/lib/b.c"), "lib/b.c");
  EXPECT_EQ(here.file("/home/user/shop/src/../lib/./b.c"), "lib/b.c");
  EXPECT_EQ(here.file("/home/user/shopping/c.c"), "/home/user/shopping/c.c");
  EXPECT_EQ(here.file("/usr/include/d.h"), "/usr/include/d.h");
  EXPECT_EQ(here.file("e.c"), "e.c");
}

TEST_F(PlacesTest, WhoBuildsBesideTheSourcesIsOneStepAway) {
  report_.subject.cwd = "/home/user/shop/build";
  const Places here = places("/home/user/shop/build");
  EXPECT_EQ(here.file("/home/user/shop/src/a.c"), "../src/a.c");
  EXPECT_EQ(here.file("/home/user/other/a.c"), "/home/user/other/a.c");
  EXPECT_EQ(places("/home/user/shop/build/debug").file("/home/user/shop/a.c"), "../../a.c");
}

TEST_F(PlacesTest, TheRootDirectoryIsNoReasonToCut) {
  report_.subject.cwd = "/";
  EXPECT_EQ(places("/").file("/usr/src/a.c"), "/usr/src/a.c");
  EXPECT_EQ(places("").file("/usr/src/a.c"), "/usr/src/a.c");
}

TEST_F(PlacesTest, WhatIsKnownOfAFrame) {
  const Places here = places("");
  Frame frame = sample::at("grow", "server.c", 18, 13);
  EXPECT_EQ(here.column(frame), "server.c:18:13");
  EXPECT_EQ(here.line(frame), "server.c:18");
  frame.column = 0;
  EXPECT_EQ(here.column(frame), "server.c:18");
  frame.line.reset();
  EXPECT_EQ(here.column(frame), "server.c");
  frame.file.clear();
  EXPECT_EQ(here.column(frame), "shop+0x1012");
  EXPECT_EQ(here.function(frame), "grow");
  frame.function.clear();
  EXPECT_EQ(here.function(frame), "shop+0x1012");
  frame.offset.reset();
  EXPECT_EQ(here.line(frame), "shop");
  frame.module = ModuleId::of(99);  // the report has no such module
  EXPECT_EQ(here.line(frame), "?");
  EXPECT_EQ(here.function(frame), "?");
}

TEST_F(PlacesTest, SymbolWhereThereIsNoName) {
  Frame frame;
  frame.linkage = "_Zfoo";
  EXPECT_EQ(places("").function(frame), "_Zfoo");
}

TEST_F(PlacesTest, SourceIsFoundWhereTheSubjectRan) {
  report_.subject.cwd = PLUMB_TEST_DATA "/shop";
  EXPECT_EQ(places("").readable("server.c"), PLUMB_TEST_DATA "/shop/server.c");
  EXPECT_EQ(places("").readable(PLUMB_TEST_DATA "/shop/server.c"),
            PLUMB_TEST_DATA "/shop/server.c");
  EXPECT_EQ(places("").readable("missing.c"), "");
  EXPECT_EQ(places("").readable(""), "");
}

}  // namespace
}  // namespace plumb
