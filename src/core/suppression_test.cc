#include "core/suppression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include <fmt/format.h>

#include "base/test_scale.h"
#include "core/accounting.h"
#include "core/fingerprint.h"
#include "core/suppression_index.h"
#include "core/suppression_match.h"
#include "core/test_leaks.h"

namespace plumb {
namespace {

using test::frame;
using test::leak;
using test::lost_at;
using test::report_of;
using test::stack;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kToday = "2026-06-15";

std::vector<Suppression> entries_of(std::string_view text) {
  auto parsed = parse_suppressions(text, "s.toml");
  EXPECT_TRUE(parsed) << parsed.error().message();
  return parsed ? std::move(*parsed) : std::vector<Suppression>{};
}

std::vector<bool> hidden(const Report& report) {
  std::vector<bool> list;
  for (const Leak& each : report.leaks) list.push_back(each.suppressed.has_value());
  return list;
}

bool covers(std::string_view keys, Leak one) {
  Report report = report_of({std::move(one)});
  report.modules = {{.path = "/usr/lib/libx.so.1", .build_id = "", .debug = "", .extra = {}}};
  std::vector<Suppression> entries = entries_of("[[suppress]]\n" + std::string(keys) + "\n");
  apply_suppressions(report, entries, kToday);
  return report.leaks[0].suppressed.has_value();
}

TEST(ApplySuppressions, MarksWithPlaceNameAndReason) {
  Report report = report_of({leak(stack({"make"})), leak(stack({"other"}))});
  std::vector<Suppression> entries =
      entries_of("[[suppress]]\nname = 'n'\nreason = 'r'\nallocation = ['make']\n");
  apply_suppressions(report, entries, kToday);
  EXPECT_EQ(report.leaks[0].suppressed->by, "s.toml:1 (n)");
  EXPECT_EQ(report.leaks[0].suppressed->reason, "r");
  EXPECT_FALSE(report.leaks[1].suppressed);
  EXPECT_EQ(report.totals.suppressed, 1u);
  EXPECT_TRUE(check_totals(report));
  EXPECT_EQ(entries[0].used_leaks, 1u);
  EXPECT_THAT(report.notes, IsEmpty());
}

TEST(ApplySuppressions, TheFirstThatFitsWins) {
  Report report = report_of({leak(stack({"make"}))});
  std::vector<Suppression> entries = entries_of(
      "[[suppress]]\nname='no'\nany=['x']\n[[suppress]]\nname='one'\nany=['ma*']\n"
      "[[suppress]]\nname='two'\nany=['make']\n");
  apply_suppressions(report, entries, kToday);
  EXPECT_EQ(report.leaks[0].suppressed->by, "s.toml:4 (one)");
  std::vector<std::string> names;
  for (const Suppression* entry : unused(entries)) names.push_back(entry->name);
  EXPECT_THAT(names, ElementsAre("no", "two"));
}

TEST(ApplySuppressions, LeavesEarlierMarks) {
  Report report = report_of({leak(stack({"make"}))});
  report.leaks[0].suppressed = Suppressed{.by = "before", .reason = "", .extra = {}};
  std::vector<Suppression> entries = entries_of("[[suppress]]\nany=['make']\n");
  apply_suppressions(report, entries, kToday);
  EXPECT_EQ(report.leaks[0].suppressed->by, "before");
  EXPECT_EQ(report.totals.suppressed, 1u);
}

TEST(ApplySuppressions, PatternsStartAtTheInnermostFrame) {
  const Leak one = leak(stack({"malloc", "a", "b", "c"}));
  EXPECT_TRUE(covers("allocation = ['a']", one));
  EXPECT_TRUE(covers("allocation = ['malloc', 'a']", one));
  EXPECT_TRUE(covers("allocation = ['a', 'b', 'c']", one));
  EXPECT_TRUE(covers("allocation = ['a', '...', 'c']", one));
  EXPECT_TRUE(covers("allocation = ['a', '...', 'b']", one));
  EXPECT_TRUE(covers("allocation = ['...', 'c', '...']", one));
  EXPECT_TRUE(covers("allocation = ['*', 'b']", one));
  EXPECT_FALSE(covers("allocation = ['b']", one));
  EXPECT_FALSE(covers("allocation = ['a', 'c']", one));
  EXPECT_FALSE(covers("allocation = ['a', 'b', 'c', 'd']", one));
  EXPECT_FALSE(covers("allocation = ['...', 'c', 'b']", one));
}

TEST(ApplySuppressions, GapsTryEveryPlace) {
  const Leak one = leak(stack({"a", "b", "a", "b", "c"}));
  EXPECT_TRUE(covers("allocation = ['...', 'a', 'b', 'c']", one));
  EXPECT_TRUE(covers("allocation = ['a', '...', 'b', 'c']", one));
  EXPECT_FALSE(covers("allocation = ['...', 'b', 'b']", one));
}

TEST(ApplySuppressions, TheKeyChoosesTheStack) {
  Leak one = lost_at(stack({"make"}), stack({"drop"}));
  one.last_use = LastUse{.stack = stack({"use"}), .what = {}, .extra = {}};
  EXPECT_TRUE(covers("allocation = ['make']", one));
  EXPECT_TRUE(covers("loss = ['drop']", one));
  EXPECT_TRUE(covers("last-use = ['use']", one));
  EXPECT_FALSE(covers("allocation = ['drop']", one));
  EXPECT_FALSE(covers("loss = ['make']", one));
  EXPECT_FALSE(covers("last-use = ['drop']", one));
  for (const char* name : {"make", "drop", "use"}) {
    EXPECT_TRUE(covers(fmt::format("any = ['{}']", name), one));
  }
  EXPECT_FALSE(covers("any = ['make', 'drop']", one));  // in order, in one stack
  EXPECT_TRUE(covers("allocation = ['make']\nloss = ['drop']", one));
  EXPECT_FALSE(covers("allocation = ['make']\nloss = ['other']", one));
  EXPECT_FALSE(covers("loss = ['drop']", leak(stack({"drop"}))));
}

TEST(ApplySuppressions, MatchesFunctionsInAllTheirForms) {
  Frame method = frame("void ns::Tree<int>::grow(int) const [clone .isra.0]");
  method.linkage = "_ZN2ns4TreeE.isra.0";
  for (const char* name : {"ns::Tree<int>::grow", "void ns::Tree<int>::grow(int) const", "ns::*",
                           "_ZN2ns4TreeE.isra.0", "*grow*"}) {
    EXPECT_TRUE(covers(fmt::format("any = ['{}']", name), leak({method}))) << name;
  }
  for (const char* name : {"grow", "ns::Tree<int>", "ns::tree*"}) {
    EXPECT_FALSE(covers(fmt::format("any = ['{}']", name), leak({method}))) << name;
  }
}

TEST(ApplySuppressions, MatchesFilesAndModulesByTheirEnds) {
  Frame place = frame("f", "/home/x/src/a.c", 3);
  place.module = ModuleId::of(0);
  for (const char* fields :
       {"file = 'a.c'", "file = 'src/*.c'", "file = '/home/*'", "file = '*a.c'",
        "module = 'libx.so*'", "module = '/usr/lib/libx.so.1'",
        "function = 'f', file = 'a.c', module = 'libx*'"}) {
    EXPECT_TRUE(covers(fmt::format("any = [{{ {} }}]", fields), leak({place}))) << fields;
  }
  for (const char* fields :
       {"file = 'b.c'", "file = 'rc/a.c'", "file = '/src/a.c'", "module = 'x.so*'",
        "function = 'g', file = 'a.c'", "function = 'f', module = 'liby*'"}) {
    EXPECT_FALSE(covers(fmt::format("any = [{{ {} }}]", fields), leak({place}))) << fields;
  }
}

TEST(ApplySuppressions, ChoosesByKindAndId) {
  Leak one = leak(stack({"f"}));
  one.id = "0123456789abcdef";
  EXPECT_TRUE(covers("id = '0123456789abcdef'", one));
  EXPECT_FALSE(covers("id = '0123456789abcdee'", one));
  EXPECT_TRUE(covers("kind = 'lost'", one));
  EXPECT_FALSE(covers("kind = ['stale', 'forgotten']", one));
  EXPECT_FALSE(covers("id = '0123456789abcdef'\nkind = 'stale'", one));
  EXPECT_FALSE(covers("id = '0123456789abcdef'\nany = ['g']", one));
}

TEST(ApplySuppressions, MaxIsAnUpperBound) {
  Report report = report_of(
      {leak(stack({"f"}), 8, 3), leak(stack({"f", "a"}), 8, 4), leak(stack({"f", "b"}), 8, 2)});
  std::vector<Suppression> entries = entries_of("[[suppress]]\nany=['f']\nmax = 5\n");
  apply_suppressions(report, entries, kToday);
  EXPECT_THAT(hidden(report), ElementsAre(true, false, true));
  EXPECT_EQ(entries[0].used_blocks, 5u);
  EXPECT_EQ(entries[0].refused_leaks, 1u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_EQ(report.notes[0].code, "suppression-max");
  EXPECT_EQ(report.notes[0].text,
            "the suppression at s.toml:1 covers more than its max of 5 blocks: 1 leak (4 blocks) "
            "beyond it is shown");
  EXPECT_THAT(unused(entries), IsEmpty());
}

TEST(ApplySuppressions, BeyondMaxALaterEntryMayHelp) {
  Report report = report_of({leak(stack({"f"}), 8, 9)});
  std::vector<Suppression> entries =
      entries_of("[[suppress]]\nany=['f']\nmax = 5\n[[suppress]]\nany=['f']\n");
  apply_suppressions(report, entries, kToday);
  EXPECT_EQ(report.leaks[0].suppressed->by, "s.toml:4");
}

TEST(ApplySuppressions, ExpiryIsTheLastDay) {
  const auto shown_on = [](std::string_view day) {
    Report report = report_of({leak(stack({"f"}))});
    std::vector<Suppression> entries =
        entries_of("[[suppress]]\nname = 'n'\nany=['f']\nexpires = 2026-06-15\n");
    apply_suppressions(report, entries, day);
    return report.leaks[0].suppressed ? std::string() : report.notes.at(0).text;
  };
  EXPECT_EQ(shown_on("2026-06-14"), "");
  EXPECT_EQ(shown_on("2026-06-15"), "");
  EXPECT_EQ(shown_on("2026-06-16"),
            "the suppression at s.toml:1 (n) expired on 2026-06-15: 1 leak (1 block) it covers is "
            "shown");
}

TEST(ApplySuppressions, AnExpiredEntryThatCoversNothingIsUnused) {
  Report report = report_of({leak(stack({"g"}))});
  std::vector<Suppression> entries = entries_of("[[suppress]]\nany=['f']\nexpires = 2020-01-01\n");
  apply_suppressions(report, entries, kToday);
  EXPECT_TRUE(entries[0].expired);
  EXPECT_THAT(report.notes, IsEmpty());
  EXPECT_EQ(unused(entries).size(), 1u);
}

TEST(SuppressionFor, ComesBackAsAnEntryThatCoversTheLeak) {
  Report report;
  report.modules = {{.path = "/usr/lib/lib it's*.so", .build_id = "", .debug = "", .extra = {}}};
  Frame bare;
  bare.module = ModuleId::of(0);
  bare.offset = 4;
  Frame only_file;
  only_file.file = "/src/\"odd\".c";
  Frame symbol;
  symbol.linkage = "_Z1fv.isra.0";
  const std::vector<Stack> stacks = {
      stack({"malloc", "make", "main", "__libc_start_main", "_start"}),
      stack({"f(char*, int (*)(char))", "operator*(a, b)"}),
      stack({"it's \"quoted\"", "back\\slash", "a?b"}),
      stack({"...", "main"}),
      stack({"new\nline\x1b[31m", "caf\xC3\xA9", "bad\xFF\xC3utf"}),
      stack({"a(int) [clone .cold]", "b[abi:cxx11]()", "c::{lambda()#3}::operator()() const"}),
      stack({"'''", "\"\"\"", "#", "[[x]]", "\\"}),
      stack({"malloc"}),
      {bare, only_file, symbol, Frame{}},
  };
  for (const Stack& allocation : stacks) {
    for (const Stack& loss : stacks) {
      Report one = report;
      one.leaks = {lost_at(allocation, loss)};
      assign_ids(one);
      const std::string text = suppression_for(one.leaks[0], one);
      auto entries = parse_suppressions(text, "gen");
      ASSERT_TRUE(entries) << entries.error().message() << text;
      ASSERT_EQ(entries->size(), 1u);
      apply_suppressions(one, *entries, kToday);
      EXPECT_TRUE(one.leaks[0].suppressed) << text;
    }
  }
}

TEST(SuppressionFor, CoversNoOther) {
  const Leak one = lost_at(stack({"make(char*)", "main"}), stack({"drop", "main"}));
  std::vector<Leak> others(5, one);
  others[0].allocation.stack[0].function = "make(charXX)";
  others[1].allocation.stack[1].function = "other";
  others[2].loss->stack[0].function = "dropped";
  others[3].kind = Kind::stale;
  others[4].loss.reset();
  Report report = report_of(others);
  std::vector<Suppression> entries = entries_of(suppression_for(one, report));
  apply_suppressions(report, entries, kToday);
  EXPECT_EQ(report.totals.suppressed, 0u);
}

TEST(SuppressionFor, IsReadable) {
  const Report report;
  EXPECT_EQ(suppression_for(lost_at(stack({"malloc", "make(char*)", "main", "_start"}),
                                    stack({"drop", "main"})),
                            report),
            "[[suppress]]\n"
            "name = \"lost in drop\"\n"
            "reason = \"\"\n"
            "kind = \"lost\"\n"
            "allocation = [\n"
            "  'make(char\\*)',\n"
            "  \"main\",\n"
            "]\n"
            "loss = [\n"
            "  \"drop\",\n"
            "  \"main\",\n"
            "]\n");
}

TEST(SuppressionFor, WithoutStacksUsesTheFingerprint) {
  Leak one;
  EXPECT_EQ(suppression_for(one, Report{}), "");
  one.id = "0123456789abcdef";
  EXPECT_THAT(suppression_for(one, Report{}), HasSubstr("id = \"0123456789abcdef\"\n"));
}

TEST(LongestLiteral, IsInEveryMatch) {
  EXPECT_EQ(longest_literal("a*bcd?e"), "bcd");
  EXPECT_EQ(longest_literal("a\\*b*c"), "a*b");
  EXPECT_EQ(longest_literal("*?*"), "");
  EXPECT_EQ(longest_literal("x\\"), "x\\");
}

// The index only leaves out what could not match.
TEST(SuppressionIndex, AgreesWithTryingEveryPair) {
  std::mt19937 random(7);
  const std::vector<std::string> names = {"malloc",   "strdup",
                                          "make",     "ns::make(int)",
                                          "main",     "run",
                                          "f.isra.0", "g(char*) [clone .cold]",
                                          "_start",   "operator new(unsigned long)"};
  const std::vector<std::string> globs = {"ma*",    "make",   "*",     "main",   "?un",
                                          "f",      "g",      "ns::*", "_Znwm",  "...",
                                          "*(int)", "strdup", "x",     "malloc", "a.c"};
  const std::vector<std::string> apis = {"malloc", "strdup", "operator new", "", "pool"};
  const auto pick = [&](const std::vector<std::string>& list) {
    return list[random() % list.size()];
  };
  std::vector<Leak> leaks;
  for (int i = 0; i < 60; ++i) {
    Leak one = lost_at({}, {});
    one.allocation.api = pick(apis);
    for (std::size_t depth = random() % 4; depth-- > 0;) {
      one.allocation.stack.push_back(frame(pick(names), "/src/a.c", 3));
      one.loss->stack.push_back(frame(pick(names)));
    }
    leaks.push_back(std::move(one));
  }
  const Report report = report_of(std::move(leaks));
  std::vector<Suppression> entries;
  for (int i = 0; i < 300; ++i) {
    Suppression entry;
    StackPattern pattern;
    pattern.part = static_cast<StackPart>(random() % 4);
    pattern.from_allocator = random() % 2 == 0;
    for (std::size_t depth = 1 + random() % 3; depth-- > 0;) {
      FramePattern one;
      const std::string glob = pick(globs);
      one.gap = glob == "...";
      if (!one.gap) {
        switch (random() % 4) {
          case 0:
            one.file = glob;
            break;
          case 1:
            one.word = "*" + glob + "*";
            break;
          default:
            one.function = glob;
        }
      }
      pattern.frames.push_back(one);
    }
    entry.stacks.push_back(pattern);
    entries.push_back(entry);
  }
  const SuppressionIndex index(entries, report);
  SuppressionMatcher matcher(report);
  std::size_t matches = 0;
  for (std::size_t i = 0; i < report.leaks.size(); ++i) {
    const std::vector<std::uint32_t> candidates = index.candidates(i);
    EXPECT_TRUE(std::ranges::is_sorted(candidates));
    for (std::uint32_t entry = 0; entry < entries.size(); ++entry) {
      if (!matcher.covers(entries[entry], report.leaks[i])) continue;
      ++matches;
      EXPECT_TRUE(std::ranges::binary_search(candidates, entry)) << i << " " << entry;
    }
  }
  EXPECT_GT(matches, 100u);
}

TEST(ApplySuppressions, ManyEntriesAndManyLeaksAreFast) {
  Report report;
  for (std::uint32_t i = 0; i < 100'000 / test::kScale; ++i) {
    Stack frames = {frame("malloc")};
    for (std::uint32_t depth = 0; depth < 10; ++depth) {
      frames.push_back(
          frame(fmt::format("project::part{}::function_{}(int)", depth, (i * 7 + depth) % 20'000),
                fmt::format("/home/x/src/part{}.cc", depth), i % 500 + 1));
    }
    frames.push_back(frame("main", "/home/x/src/main.cc", 3));
    report.leaks.push_back(leak(std::move(frames)));
  }
  test::add_up(report);
  std::string valgrind;
  std::string lsan;
  for (int i = 0; i < 400; ++i) {
    valgrind += fmt::format(
        "{{\n n{}\n Memcheck:Leak\n fun:malloc\n fun:*function_{}*\n ...\n fun:main\n}}\n", i,
        i * 11);
    lsan += fmt::format("leak:lib_{}.so\n", i);
  }
  std::vector<Suppression> entries = entries_of(valgrind);
  for (Suppression& entry : entries_of(lsan)) entries.push_back(std::move(entry));
  const std::clock_t start = std::clock();
  apply_suppressions(report, entries, kToday);
  const double took = double(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_GT(report.totals.suppressed, 1000u / test::kScale);
  EXPECT_LT(took, 10) << "seconds of CPU";
}

}  // namespace
}  // namespace plumb
