#include "run/sites.h"

#include <gtest/gtest.h>

namespace plumb {
namespace {

Frame frame(const char* function, const char* file = "", unsigned line = 0) {
  Frame result;
  result.function = function;
  result.file = file;
  if (line != 0) result.line = line;
  return result;
}

const Stack kLose = {frame("malloc"), frame("lose", "/src/x.c", 5), frame("main", "/src/x.c", 9)};
const Stack kOtherLine = {frame("malloc"), frame("lose", "/src/x.c", 6),
                          frame("main", "/src/x.c", 9)};
const Stack kOtherCaller = {frame("malloc"), frame("lose", "/src/x.c", 5), frame("other")};

void expect_lose(const char* text) {
  const Result<Sites> sites = Sites::read(text, "r");
  ASSERT_TRUE(sites) << sites.error().message();
  EXPECT_EQ(sites->count(), 1U);
  EXPECT_TRUE(sites->has(kLose));
  EXPECT_FALSE(sites->has(kOtherLine));
  EXPECT_FALSE(sites->has(kOtherCaller));
}

TEST(Sites, LeakSanitizer) {
  expect_lose(
      "=================================================================\n"
      "==4242==ERROR: LeakSanitizer: detected memory leaks\n\n"
      "Direct leak of 40 byte(s) in 1 object(s) allocated from:\n"
      "    #0 0x55d in malloc (/tmp/x+0xb1)\n"
      "    #1 0x55e in lose /src/x.c:5:13\n"
      "    #2 0x55f in main /src/x.c:9:3\n"
      "    #3 0x7f0 in __libc_start_main (/lib/x86_64-linux-gnu/libc.so.6+0x29d8f)\n\n"
      "SUMMARY: AddressSanitizer: 40 byte(s) leaked in 1 allocation(s).\n");
}

TEST(Sites, Memcheck) {
  expect_lose(
      "==7== Invalid read of size 4\n"
      "==7==    at 0x109154: elsewhere (x.c:50)\n"
      "==7== \n"
      "==7== 40 bytes in 1 blocks are definitely lost in loss record 1 of 1\n"
      "==7==    at 0x48407B4: malloc (vg_replace_malloc.c:381)\n"
      "==7==    by 0x109154: lose (x.c:5)\n"
      "==7==    by 0x109170: main (x.c:9)\n"
      "==7== \n"
      "==7== LEAK SUMMARY:\n");
}

TEST(Sites, MemcheckXml) {
  expect_lose(
      "<?xml version=\"1.0\"?><valgrindoutput><error><kind>InvalidRead</kind><stack><frame>"
      "<fn>elsewhere</fn></frame></stack></error>\n"
      "<error><kind>Leak_DefinitelyLost</kind><stack>\n"
      "<frame><ip>0x48</ip><fn>malloc</fn></frame>\n"
      "<frame><ip>0x10</ip><fn>lose</fn><dir>/src</dir><file>x.c</file><line>5</line></frame>\n"
      "<frame><ip>0x11</ip><fn>main</fn><dir>/src</dir><file>x.c</file><line>9</line></frame>\n"
      "</stack></error></valgrindoutput>\n");
}

TEST(Sites, NamesOfCxx) {
  const Result<Sites> sites = Sites::read(
      "==7== 1 bytes in 1 blocks are possibly lost in loss record 2 of 2\n"
      "==7==    at 0x1: operator new(unsigned long) (vg_replace_malloc.c:422)\n"
      "==7==    by 0x2: ns::Table<int>::grow(unsigned long) (table.h:12)\n",
      "r");
  ASSERT_TRUE(sites);
  EXPECT_TRUE(sites->has({frame("operator new(unsigned long)"),
                          frame("void ns::Table<int>::grow(unsigned long)", "table.h", 12)}));
  EXPECT_FALSE(sites->has({frame("ns::Table<char>::grow(unsigned long)", "table.h", 12)}));
}

TEST(Sites, SomethingElse) {
  for (const char* text :
       {"", "hello", "<valgrindoutput></valgrindoutput>", "#0 0x1 in main x.c:1\n",
        "<valgrindoutput><error><kind>Leak_", "==", "==1==    by 0x"}) {
    EXPECT_FALSE(Sites::read(text, "r")) << text;
  }
}

}  // namespace
}  // namespace plumb
