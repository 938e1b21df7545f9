#include "driver/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/accounting.h"
#include "driver/changes.h"
#include "driver/filter.h"
#include "driver/machine.h"
#include "driver/present.h"

namespace plumb {
namespace {

using testing::ElementsAre;

Frame frame(std::string function, std::string file, std::uint32_t line) {
  Frame result;
  result.function = std::move(function);
  result.file = std::move(file);
  result.line = line;
  result.module = ModuleId::of(0);
  return result;
}

Leak leak(std::string id, Kind kind, std::uint64_t bytes, Frame place) {
  Leak result;
  result.id = std::move(id);
  result.kind = kind;
  result.direct = {1, bytes, {}};
  result.allocation.stack = {std::move(place)};
  return result;
}

Report report_of(std::vector<Leak> leaks) {
  Report report;
  report.modules = {{"/usr/bin/server", "", "full", {}}};
  for (const Leak& entry : leaks) {
    (entry.kind == Kind::lost ? report.totals.lost : report.totals.forgotten) += entry.total();
    report.totals.allocated += entry.total();
  }
  report.leaks = std::move(leaks);
  return report;
}

Report sample() {
  return report_of({leak("aaaa000000000001", Kind::lost, 100, frame("grow(int)", "src/a.c", 3)),
                    leak("bbbb000000000002", Kind::lost, 10, frame("fill", "src/b.c", 9)),
                    leak("cccc000000000003", Kind::forgotten, 50, frame("init", "lib/c.c", 1))});
}

std::vector<std::string> ids(const Report& report) {
  std::vector<std::string> result;
  for (const Leak& entry : report.leaks) result.push_back(entry.id.substr(0, 4));
  return result;
}

// The ids left after one filter; the totals must still add up.
std::vector<std::string> filtered(Opt opt, std::string value) {
  Settings settings(Command::report);
  settings.set(spec_of(opt), {std::move(value)}, Origin::command_line);
  Report report = sample();
  apply_filters(report, settings);
  EXPECT_TRUE(check_totals(report));
  return ids(report);
}

TEST(Judge, ForgottenIsNoFindingUnlessAsked) {
  Settings settings(Command::report);
  const Verdict verdict = judge(sample(), settings);
  EXPECT_EQ(verdict.leaks, 2U);
  EXPECT_EQ(verdict.bytes, 110U);
  EXPECT_TRUE(verdict.findings);
  Report only = report_of({leak("c", Kind::forgotten, 50, frame("init", "c.c", 1))});
  EXPECT_FALSE(judge(only, settings).findings);
  settings.set(spec_of(Opt::fail_on), {"lost,forgotten"}, Origin::command_line);
  EXPECT_TRUE(judge(only, settings).findings);
}

TEST(Judge, HiddenLeaksAreNoFindings) {
  Report report = sample();
  report.leaks[0].known = true;
  report.leaks[1].suppressed = Suppressed{"x", "", {}};
  EXPECT_FALSE(judge(report, Settings(Command::report)).findings);
}

TEST(Judge, TheBudgetIsAllowed) {
  EXPECT_TRUE(above_budget(1, 101, 100));
  EXPECT_FALSE(above_budget(9, 100, 100));
  EXPECT_TRUE(above_budget(1, 0, 0));
  EXPECT_FALSE(above_budget(0, 0, 0));
}

TEST(Judge, ListsUnusedAndExpiredSuppressions) {
  Suppression used;
  used.used_leaks = 1;
  Suppression unused;
  unused.origin = "a.supp:3";
  unused.name = "old";
  Suppression expired;
  expired.origin = "a.supp:9";
  expired.expired = true;
  expired.expires = "2020-01-01";
  EXPECT_THAT(unused_suppressions({used, unused, expired}),
              ElementsAre("a.supp:3: the suppression 'old' matched nothing",
                          "a.supp:9: the suppression expired on 2020-01-01"));
}

TEST(Filter, EachOption) {
  EXPECT_THAT(filtered(Opt::min_size, "50"), ElementsAre("aaaa", "cccc"));
  EXPECT_THAT(filtered(Opt::kind, "forgotten"), ElementsAre("cccc"));
  EXPECT_THAT(filtered(Opt::id, "bbbb"), ElementsAre("bbbb"));
  EXPECT_THAT(filtered(Opt::file, "src/*"), ElementsAre("aaaa", "bbbb"));
  EXPECT_THAT(filtered(Opt::file, "b.c"), ElementsAre("bbbb"));
  EXPECT_THAT(filtered(Opt::function, "grow"), ElementsAre("aaaa"));
  EXPECT_THAT(filtered(Opt::function, "gro"), ElementsAre());
  EXPECT_THAT(filtered(Opt::module, "server"), ElementsAre("aaaa", "bbbb", "cccc"));
  EXPECT_THAT(filtered(Opt::module, "other*"), ElementsAre());
}

TEST(Filter, CutsTheListAndKeepsTheTotals) {
  Report report = sample();
  report.leaks[0].known = true;
  recount_hidden(report);
  cut_list(report, 1, false);
  EXPECT_THAT(ids(report), ElementsAre("bbbb"));
  EXPECT_TRUE(check_totals(report));
}

TEST(Changes, NewGrownShrunkAndGone) {
  const Report before = report_of({leak("a", Kind::lost, 100, frame("grow", "a.c", 3)),
                                   leak("b", Kind::lost, 10, frame("fill", "a.c", 9)),
                                   leak("c", Kind::lost, 50, frame("init", "a.c", 20)),
                                   leak("d", Kind::lost, 7, frame("same", "a.c", 30))});
  const Report now = report_of({leak("a", Kind::lost, 130, frame("grow", "a.c", 13)),
                                leak("b", Kind::lost, 4, frame("fill", "a.c", 19)),
                                leak("e", Kind::lost, 60, frame("more", "a.c", 5)),
                                leak("d", Kind::lost, 7, frame("same", "a.c", 33))});
  const Changes changes = changes_between(before, now, 0);
  std::vector<std::string> words;
  for (const ChangedLeak& entry : changes.leaks) {
    words.push_back(std::string(name_of(entry.change)) + " " +
                    entry.leak->allocation.stack[0].function);
  }
  EXPECT_THAT(words, ElementsAre("new more", "grown grow", "shrunk fill", "gone init"));
  EXPECT_EQ(changes.unchanged, 1U);
  EXPECT_EQ(changes_between(before, now, 40).leaks.size(), 2U);
}

TEST(Changes, HiddenLeaksAreNone) {
  const Report before = report_of({leak("c", Kind::lost, 50, frame("init", "a.c", 20))});
  Report now = report_of({leak("e", Kind::lost, 60, frame("more", "a.c", 5))});
  now.leaks[0].known = true;
  const Changes changes = changes_between(before, now, 0);
  ASSERT_EQ(changes.leaks.size(), 1U);
  EXPECT_EQ(changes.leaks[0].change, Change::gone);
}

TEST(Present, TheNameOfTheOutputGivesTheFormat) {
  const auto format = [](std::string path, bool given) {
    Settings settings(Command::report);
    settings.set(spec_of(Opt::output), {std::move(path)}, Origin::command_line);
    if (given) settings.set(spec_of(Opt::format), {"text"}, Origin::command_line);
    return format_in_force(settings);
  };
  EXPECT_EQ(format("a.json", false), Format::json);
  EXPECT_EQ(format("a.sarif", false), Format::sarif);
  EXPECT_EQ(format("a.sarif.json", false), Format::sarif);
  EXPECT_EQ(format("a.xml", false), Format::junit);
  EXPECT_EQ(format("a.txt", false), Format::text);
  EXPECT_EQ(format("a.json", true), Format::text);
}

TEST(Machine, FindsVersionsInText) {
  EXPECT_EQ(version_in("Z3 version 4.8.12 - 64 bit"), "4.8.12");
  EXPECT_EQ(version_in("valgrind-3.19.0\n"), "3.19.0");
  EXPECT_EQ(version_in("19.1.7"), "19.1.7");
  EXPECT_EQ(version_in("no 7 here."), "");
  EXPECT_EQ(version_of_program({"no-such-program-at-all"}), "");
  EXPECT_NE(libc_build_id(), "");
}

}  // namespace
}  // namespace plumb
