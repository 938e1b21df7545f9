#include "report/text_stack.h"

#include <gtest/gtest.h>

#include <string>

#include "report/testdata/sample_report.h"

namespace plumb {
namespace {

using sample::at;
using sample::in_header;
using sample::in_module;

const Report kReport = sample::clean();  // module 0 is the program, 1 and 2 are the system's

std::string chain(const Stack& stack, std::size_t width = 200) {
  SourceCache sources;
  const Places places(kReport, sources, "", false);
  Paragraph line(0, 2);
  line.add("x");
  add_chain(line, telling_frames(stack, kReport), places, width - 2);
  return line.render(Page{width, false});
}

TEST(Lead, IsTheUsersOwnSource) {
  const Stack stack = {in_module("malloc", 2, 1), in_module("CRYPTO_strdup", 1, 2),
                       in_header("std::vector<int>::push_back(int)", "/usr/include/c++/12/v.h", 3),
                       at("load", "a.c", 4)};
  const Lead lead = lead_of(stack, kReport);
  ASSERT_NE(lead.frame, nullptr);
  EXPECT_EQ(lead.frame->function, "load");
  ASSERT_NE(lead.through, nullptr);
  EXPECT_EQ(lead.through->function, "std::vector<int>::push_back(int)");
}

TEST(Lead, LibrariesOfTheSystemAreNotTheUsersOwnEvenWithSource) {
  Frame libc = at("_IO_file_doallocate", "libio/filedoalloc.c", 101, 7);
  libc.module = ModuleId::of(2);
  const Stack stack = {in_module("malloc", 2, 1), libc, at("main", "a.c", 4)};
  EXPECT_EQ(lead_of(stack, kReport).frame, &stack[2]);
  EXPECT_EQ(lead_of(stack, kReport).through, &stack[1]);
  const Stack alone = {libc};
  EXPECT_EQ(lead_of(alone, kReport).frame, &alone[0]);
}

TEST(Lead, IsTheProgramRatherThanASystemLibraryEvenWithoutSource) {
  const Stack stack = {in_module("malloc", 2, 1), in_module("CRYPTO_strdup", 1, 2),
                       in_module("", 0, 0x2402), in_module("__libc_start_call_main", 2, 3),
                       in_module("", 0, 0x10a0)};
  EXPECT_EQ(lead_of(stack, kReport).frame, &stack[2]);
  // What called the program is not part of it.
  const Stack early = {in_module("malloc", 2, 1), in_module("setlocale", 2, 2),
                       in_module("__libc_start_main", 2, 3), in_module("", 0, 0x10a0)};
  EXPECT_EQ(lead_of(early, kReport).frame, &early[1]);
}

TEST(Lead, IsWhatThereIsOtherwise) {
  EXPECT_EQ(lead_of({}, kReport).frame, nullptr);
  const Stack library = {in_module("malloc", 2, 1), in_module("CRYPTO_strdup", 1, 2)};
  EXPECT_EQ(lead_of(library, kReport).frame, &library[1]);
  EXPECT_EQ(lead_of(library, kReport).through, nullptr);
  const Stack direct = {in_module("malloc", 2, 1), at("load", "a.c", 4)};
  EXPECT_EQ(lead_of(direct, kReport).frame, &direct[1]);
  EXPECT_EQ(lead_of(direct, kReport).through, nullptr);
}

TEST(Frames, EndAtMainOrWhereTheThreadStarts) {
  const Stack stack = sample::below_main({in_module("malloc", 2, 1), at("load", "a.c", 4)});
  ASSERT_EQ(telling_frames(stack, kReport).size(), 2U);
  EXPECT_EQ(telling_frames(stack, kReport)[1]->function, "main");
  const Stack thread = {at("work", "a.c", 4), in_module("start_thread", 2, 1),
                        in_module("clone3", 2, 2)};
  EXPECT_EQ(telling_frames(thread, kReport).size(), 1U);
  const Stack nothing_else = {in_module("start_thread", 2, 1), in_module("clone3", 2, 2)};
  EXPECT_EQ(telling_frames(nothing_else, kReport).size(), 1U);
  EXPECT_TRUE(telling_frames({}, kReport).empty());
}

TEST(Frames, ForeignOnesOnlyWhereTheProgramCalledThem) {
  const Frame invoke = in_header("std::__invoke<int>", "/usr/include/c++/12/bits/invoke.h", 61);
  const Stack thread = {at("work", "a.c", 4), invoke, invoke, in_module("start_thread", 2, 1)};
  EXPECT_EQ(chain(thread), "x in work\n");
  const Stack sort = {at("compare", "a.c", 4), in_module("msort", 2, 1), in_module("qsort", 2, 2),
                      at("sort_names", "a.c", 9), at("main", "a.c", 20)};
  EXPECT_EQ(chain(sort), "x in compare <- qsort <- sort_names (a.c:9) <- main (a.c:20)\n");
}

TEST(Frames, OfTheProgramIncludeLibraries) {
  const Stack stack = sample::below_main(
      {in_module("malloc", 2, 1), in_module("CRYPTO_strdup", 1, 2), at("load", "a.c", 4)});
  EXPECT_EQ(program_frames(stack).size(), 3U);
  EXPECT_EQ(program_frames(stack)[0].function, "CRYPTO_strdup");
}

TEST(Chain, CallersHaveLines) {
  EXPECT_EQ(chain({at("grow", "s.c", 1), at("handle", "dir/t.c", 2), in_module("f", 0, 3)}),
            "x in grow <- handle (t.c:2) <- f\n");
}

TEST(Chain, RecursionIsFolded) {
  EXPECT_EQ(
      chain({at("walk", "s.c", 7), at("walk", "s.c", 8), at("walk", "s.c", 8), at("go", "s.c", 9)}),
      "x in walk x3 <- go (s.c:9)\n");
}

TEST(Chain, LongOnesEndInANumber) {
  Stack stack;
  for (int i = 0; i < 20; ++i) stack.push_back(in_module("f" + std::to_string(i), 0, 1));
  EXPECT_EQ(chain(stack), "x in f0 <- f1 <- f2 <- f3 <- f4 <- 15 more\n");
  stack.resize(6);
  EXPECT_EQ(chain(stack), "x in f0 <- f1 <- f2 <- f3 <- f4 <- f5\n");
}

TEST(Chain, BreaksBetweenFrames) {
  EXPECT_EQ(chain({at("grow", "s.c", 1), at("handle", "t.c", 2), at("serve", "t.c", 3)}, 24),
            "x in grow\n  <- handle (t.c:2)\n  <- serve (t.c:3)\n");
}

}  // namespace
}  // namespace plumb
