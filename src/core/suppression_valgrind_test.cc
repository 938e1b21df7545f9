#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/suppression.h"
#include "core/test_leaks.h"

namespace plumb {
namespace {

using test::frame;
using test::leak;
using test::report_of;
using test::stack;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Suppression> entries_of(std::string_view text) {
  auto parsed = parse_suppressions(text, "v.supp");
  EXPECT_TRUE(parsed) << parsed.error().message();
  return parsed ? std::move(*parsed) : std::vector<Suppression>{};
}

std::string error_of(std::string_view text) {
  const auto parsed = parse_suppressions(text, "v.supp");
  return parsed ? "" : parsed.error().where + ": " + parsed.error().what;
}

std::string entry(std::string_view frames, std::string_view extra = "") {
  return "{\n   name\n   Memcheck:Leak\n" + std::string(extra) + std::string(frames) + "}\n";
}

bool covers(std::string_view frames, Leak one, std::string_view extra = "") {
  std::vector<Suppression> entries = entries_of(entry(frames, extra));
  Report report = report_of({std::move(one)});
  report.modules = {{.path = "/usr/lib/libx.so.1", .build_id = "", .debug = "", .extra = {}}};
  apply_suppressions(report, entries, "2026-01-01");
  return report.leaks[0].suppressed.has_value();
}

Leak of_api(const char* api, Stack frames) {
  Leak result = leak(std::move(frames));
  result.allocation.api = api;
  return result;
}

TEST(ValgrindSuppressions, ReadsNamesKindsAndFrames) {
  const auto entries = entries_of(R"(
# comment
{
   <insert_a_suppression_name_here>
   Memcheck:Leak
   match-leak-kinds: definite, reachable
   fun:malloc
   ...
   obj:/usr/lib/*.so
   src:a.c:12
   # inside
   fun:main
}
{
   another
   Memcheck,Addrcheck:Leak
   fun:_Znw*
}
)");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].label(), "v.supp:3 (<insert_a_suppression_name_here>)");
  EXPECT_THAT(entries[0].kinds, ElementsAre(Kind::lost, Kind::forgotten));
  ASSERT_EQ(entries[0].stacks.size(), 1u);
  const StackPattern& pattern = entries[0].stacks[0];
  EXPECT_EQ(pattern.part, StackPart::allocation);
  EXPECT_TRUE(pattern.from_allocator);
  ASSERT_EQ(pattern.frames.size(), 5u);
  EXPECT_EQ(pattern.frames[0].function, "malloc");
  EXPECT_TRUE(pattern.frames[1].gap);
  EXPECT_EQ(pattern.frames[2].module, "/usr/lib/*.so");
  EXPECT_EQ(pattern.frames[3].file, "a.c");
  EXPECT_EQ(pattern.frames[3].line, 12u);
  EXPECT_THAT(entries[1].kinds, IsEmpty());
}

TEST(ValgrindSuppressions, PassesOverOtherKindsAndTools) {
  EXPECT_THAT(entries_of("{\n n\n Memcheck:Cond\n fun:f\n}\n"
                         "{\n n\n Memcheck:Param\n write(buf)\n fun:f\n}\n"
                         "{\n n\n Helgrind:Race\n fun:f\n}\n"
                         "{\n n\n drd:ConflictingAccess\n fun:f\n}\n"
                         "{\n n\n Memcheck:Leak\n match-leak-kinds: none\n fun:f\n}\n"),
              IsEmpty());
}

TEST(ValgrindSuppressions, TakesAnyNumberOfFrames) {
  std::string frames = "fun:malloc\n";
  for (int i = 0; i < 500; ++i) frames += "fun:f\n";
  EXPECT_EQ(entries_of(entry(frames))[0].stacks[0].frames.size(), 501u);
}

TEST(ValgrindSuppressions, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("{\n n\n Memcheck:Leak\n fun:f\n"), "v.supp:1: this entry is not complete");
  EXPECT_EQ(error_of("{\n"), "v.supp:1: this entry is not complete");
  EXPECT_EQ(error_of("{\n}\n"), "v.supp:1: this entry is not complete");
  EXPECT_EQ(error_of("{\n n\n}\n"), "v.supp:1: this entry is not complete");
  EXPECT_EQ(error_of("{\n n\n Memcheck:Cond\n"), "v.supp:1: this entry is not complete");
  EXPECT_EQ(error_of(entry("fn:f\n")), "v.supp:4: 'fn:f' is no frame");
  EXPECT_EQ(error_of(entry("fun:\n")), "v.supp:4: 'fun:' is no frame");
  EXPECT_EQ(error_of(entry("...\n")),
            "v.supp:1: this entry names no frame and would hide every leak");
  EXPECT_EQ(error_of(entry("fun:f\n", "match-leak-kinds: definit\n")),
            "v.supp:4: 'definit' is no leak kind of memcheck");
  EXPECT_EQ(error_of("{\n n\n no tool\n fun:f\n}\n"), "v.supp:3: 'no tool' names no tool and kind");
  EXPECT_EQ(error_of("{\n n\n Memcheck:Leak\n fun:f\n}\nstray\n"),
            "v.supp:6: 'stray' stands outside of an entry");
  EXPECT_EQ(error_of("{\n  \"schema\": \"plumb-report/1\",\n  \"tool\": {\n  }\n}\n"),
            "v.supp:3: '\"tool\": {' names no tool and kind");
}

TEST(ValgrindSuppressions, MatchWithTheAllocatorFrameAndWithout) {
  const Stack with = stack({"malloc", "make", "main"});
  const Stack without = stack({"make", "main"});
  for (const Stack& frames : {with, without}) {
    EXPECT_TRUE(covers("fun:malloc\nfun:make\n", leak(frames)));
    EXPECT_TRUE(covers("fun:*alloc\nfun:make\nfun:main\n", leak(frames)));
    EXPECT_TRUE(covers("fun:*\nfun:make\n", leak(frames)));
    EXPECT_TRUE(covers("...\nfun:main\n", leak(frames)));
    EXPECT_TRUE(covers("fun:malloc\n...\nfun:main\n", leak(frames)));
    EXPECT_TRUE(covers("fun:malloc\n", leak(frames)));
    EXPECT_TRUE(covers("fun:malloc\nfun:make\nfun:main\nfun:(below main)\n", leak(frames)));
    EXPECT_FALSE(covers("fun:malloc\nfun:main\n", leak(frames)));
    EXPECT_FALSE(covers("fun:calloc\nfun:make\n", leak(frames)));
    // Valgrind's stacks begin with the allocator: this is not its innermost.
    EXPECT_FALSE(covers("fun:make\n", leak(frames)));
  }
}

TEST(ValgrindSuppressions, KnowEveryNameOfOperatorNew) {
  for (const char* name :
       {"fun:_Znwm", "fun:_Znw*", "fun:operator new(unsigned long)", "fun:operator new*"}) {
    const std::string frames = std::string(name) + "\nfun:make\n";
    EXPECT_TRUE(covers(frames, of_api("operator new", stack({"make"})))) << name;
    EXPECT_TRUE(
        covers(frames, of_api("operator new", stack({"operator new(unsigned long)", "make"}))))
        << name;
    EXPECT_TRUE(covers(
        frames, of_api("operator new", stack({"malloc", "operator new(unsigned long)", "make"}))))
        << name;
    EXPECT_FALSE(covers(frames, of_api("malloc", stack({"make"})))) << name;
  }
  EXPECT_FALSE(covers("fun:_Znam\nfun:make\n", of_api("operator new", stack({"make"}))));
}

TEST(ValgrindSuppressions, SeeMallocBelowStrdup) {
  for (const Stack& frames :
       {stack({"make"}), stack({"strdup", "make"}), stack({"malloc", "strdup", "make"})}) {
    EXPECT_TRUE(covers("fun:malloc\nfun:strdup\nfun:make\n", of_api("strdup", frames)));
    EXPECT_FALSE(covers("fun:calloc\nfun:strdup\nfun:make\n", of_api("strdup", frames)));
  }
}

TEST(ValgrindSuppressions, MangledNamesMatchTheSymbol) {
  Frame method = frame("ns::Tree::grow(int)");
  method.linkage = "_ZN2ns4Tree4growEi";
  EXPECT_TRUE(covers("fun:malloc\nfun:_ZN2ns4Tree4growEi\n", leak({method})));
  EXPECT_TRUE(covers("fun:malloc\nfun:_ZN2ns*\n", leak({method})));
  EXPECT_FALSE(covers("fun:malloc\nfun:_ZN2ns4Tree6shrinkEi\n", leak({method})));
}

TEST(ValgrindSuppressions, MatchObjectsAndSources) {
  Frame place = frame("f", "/home/x/src/a.c", 12);
  place.module = ModuleId::of(0);
  EXPECT_TRUE(covers("fun:malloc\nobj:/usr/lib/libx.so.?\n", leak({place})));
  EXPECT_TRUE(covers("fun:malloc\nobj:*libx*\n", leak({place})));
  EXPECT_FALSE(covers("fun:malloc\nobj:/usr/lib/liby.so\n", leak({place})));
  EXPECT_TRUE(covers("fun:malloc\nsrc:a.c\n", leak({place})));
  EXPECT_TRUE(covers("fun:malloc\nsrc:a.c:12\n", leak({place})));
  EXPECT_FALSE(covers("fun:malloc\nsrc:a.c:13\n", leak({place})));
  EXPECT_FALSE(covers("fun:malloc\nsrc:b.c\n", leak({place})));
}

TEST(ValgrindSuppressions, ChooseByKind) {
  Leak lost = leak(stack({"f"}));
  Leak forgotten = lost;
  forgotten.kind = Kind::forgotten;
  Leak stale = lost;
  stale.kind = Kind::stale;
  const std::string_view frames = "fun:malloc\n";
  for (const char* word : {"definite", "indirect", "possible"}) {
    const std::string kinds = std::string("match-leak-kinds: ") + word + "\n";
    EXPECT_TRUE(covers(frames, lost, kinds));
    EXPECT_FALSE(covers(frames, forgotten, kinds));
  }
  EXPECT_FALSE(covers(frames, lost, "match-leak-kinds:reachable\n"));
  EXPECT_TRUE(covers(frames, forgotten, "match-leak-kinds:reachable\n"));
  for (const Leak& each : {lost, forgotten, stale}) {
    EXPECT_TRUE(covers(frames, each, "match-leak-kinds: all\n"));
    EXPECT_TRUE(covers(frames, each));
  }
}

}  // namespace
}  // namespace plumb
