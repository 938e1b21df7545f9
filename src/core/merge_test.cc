#include "core/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "base/test_scale.h"
#include "core/accounting.h"
#include "core/fingerprint.h"
#include "core/test_leaks.h"

namespace plumb {
namespace {

using test::frame;
using test::leak;
using test::lost_at;
using test::report_of;
using test::stack;

std::size_t merged_size(std::vector<Leak> leaks) {
  merge_leaks(leaks);
  return leaks.size();
}

TEST(MergeLeaks, AddsWhatIsTheSame) {
  std::vector<Leak> leaks = {leak(stack({"a"}), 10, 1), leak(stack({"b"}), 5, 1),
                             leak(stack({"a"}), 30, 2)};
  leaks[0].sizes = SizeRange{.min = 10, .max = 10, .extra = {}};
  leaks[2].sizes = SizeRange{.min = 4, .max = 26, .extra = {}};
  leaks[2].indirect.bytes = 7;
  leaks[2].confidence = 0.5;
  leaks[0].confidence = 0.25;
  merge_leaks(leaks);
  ASSERT_EQ(leaks.size(), 2u);
  EXPECT_EQ(leaks[0].direct.bytes, 40u);
  EXPECT_EQ(leaks[0].direct.blocks, 3u);
  EXPECT_EQ(leaks[0].indirect.bytes, 7u);
  EXPECT_EQ(leaks[0].sizes->min, 4u);
  EXPECT_EQ(leaks[0].sizes->max, 26u);
  EXPECT_EQ(leaks[0].confidence, 0.5);
  EXPECT_EQ(leaks[1].direct.bytes, 5u);
}

TEST(MergeLeaks, LeavesWhatDiffers) {
  const Leak base = lost_at({frame("a", "a.c", 3)}, {frame("b", "a.c", 9)});
  std::vector<Leak> others(7, base);
  others[0].kind = Kind::stale;
  others[1].resource = "file";
  others[2].allocation.stack[0].line = 4;
  others[3].loss->stack[0].line = 10;
  others[4].allocation.stack[0].offset = 16;
  others[5].path.resize(1);
  others[6].allocation.stack.push_back(frame("main"));
  for (const Leak& other : others) EXPECT_EQ(merged_size({base, other}), 2u);
  EXPECT_EQ(merged_size({base, base}), 1u);
  EXPECT_EQ(merged_size({}), 0u);
}

TEST(MergeLeaks, NamesCannotRunIntoEachOther) {
  EXPECT_EQ(merged_size({leak({frame("ab", "c")}), leak({frame("a", "bc")})}), 2u);
}

TEST(MergeLeaks, KeepsASecondHolder) {
  std::vector<Leak> leaks = {lost_at(stack({"a"}), stack({"b"}), Cause::scope_end, "p"),
                             lost_at(stack({"a"}), stack({"b"}), Cause::scope_end, "q"),
                             lost_at(stack({"a"}), stack({"b"}), Cause::scope_end, "q")};
  merge_leaks(leaks);
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].loss->holder->name, "p");
  ASSERT_EQ(leaks[0].holders.size(), 1u);
  EXPECT_EQ(leaks[0].holders[0].name, "q");
}

TEST(MergeLeaks, HidesOnlyWhatWasHiddenInAll) {
  Leak hidden = leak(stack({"a"}));
  hidden.suppressed.emplace();
  hidden.known = true;
  std::vector<Leak> both = {hidden, hidden};
  merge_leaks(both);
  EXPECT_TRUE(both[0].suppressed && both[0].known);
  std::vector<Leak> one = {hidden, leak(stack({"a"}))};
  merge_leaks(one);
  EXPECT_FALSE(one[0].suppressed || one[0].known);
}

TEST(MergeLeaks, CountsSiblingsOfOneProcessOnce) {
  Leak with = leak(stack({"a"}));
  with.frees = {{.stack = stack({"f"}), .blocks = 4, .extra = {}}};
  std::vector<Leak> leaks = {with, with};
  leaks[1].frees.push_back({.stack = stack({"g"}), .blocks = 2, .extra = {}});
  merge_leaks(leaks);
  ASSERT_EQ(leaks[0].frees.size(), 2u);
  EXPECT_EQ(leaks[0].frees[0].blocks, 4u);
}

TEST(MergeLeaks, JoinsAges) {
  Leak one = leak(stack({"a"}));
  one.age.emplace();
  one.age->first = 5;
  one.age->last = 10;
  one.age->drag = 2;
  one.age->histogram = {1};
  Leak two = one;
  two.age->first = 3;
  two.age->last = 8;
  two.age->growth = 1;
  two.age->histogram = {1, 2};
  std::vector<Leak> leaks = {one, two};
  merge_leaks(leaks);
  EXPECT_EQ(leaks[0].age->first, 3);
  EXPECT_EQ(leaks[0].age->last, 10);
  EXPECT_EQ(leaks[0].age->drag, 4);
  EXPECT_EQ(leaks[0].age->growth, 1);
  EXPECT_THAT(leaks[0].age->histogram, testing::ElementsAre(2, 2));
}

Module module(const char* path, const char* build_id = "", const char* debug = "") {
  return {.path = path, .build_id = build_id, .debug = debug, .extra = {}};
}

Frame in_module(const char* function, std::uint32_t index) {
  Frame result = frame(function);
  result.module = ModuleId::of(index);
  result.offset = 16;
  return result;
}

// A leak that mentions a module in every place that has frames.
Leak everywhere(std::uint32_t index) {
  Leak result = lost_at({in_module("make", index)}, {in_module("drop", index)});
  result.last_use = LastUse{.stack = {in_module("use", index)}, .what = {}, .extra = {}};
  result.window = {in_module("window", index)};
  result.frees = {{.stack = {in_module("free_it", index)}, .blocks = 3, .extra = {}}};
  result.path.resize(1);
  result.path[0].location = in_module("step", index);
  result.fix = Fix{.place = in_module("fix", index), .text = "free it", .extra = {}};
  return result;
}

TEST(MergeReports, UnitesModulesInAllFrames) {
  Report one = report_of({leak({in_module("a", 0)})});
  one.modules = {module("/bin/app", "01"), module("/lib/x.so", "02")};
  Report two = report_of({everywhere(1)});
  two.modules = {module("/lib/x.so", "02", "full"), module("/lib/x.so", "03")};
  const Report merged = merge_reports({one, two});
  ASSERT_EQ(merged.modules.size(), 3u);
  EXPECT_EQ(merged.modules[1].debug, "full");
  EXPECT_EQ(merged.modules[2].build_id, "03");
  for (const Leak& each : merged.leaks) {
    if (!each.loss) continue;
    const auto third = ModuleId::of(2);
    EXPECT_EQ(each.allocation.stack[0].module, third);
    EXPECT_EQ(each.loss->stack[0].module, third);
    EXPECT_EQ(each.last_use->stack[0].module, third);
    EXPECT_EQ(each.window[0].module, third);
    EXPECT_EQ(each.frees[0].stack[0].module, third);
    EXPECT_EQ(each.path[0].location.module, third);
    EXPECT_EQ(each.fix->place->module, third);
  }
}

TEST(MergeReports, MergesLeaksAcrossModuleNumbers) {
  Report one = report_of({everywhere(0)});
  one.modules = {module("/bin/app")};
  Report two = report_of({everywhere(1)});
  two.modules = {module("/lib/x.so"), module("/bin/app")};
  const Report merged = merge_reports({one, two});
  ASSERT_EQ(merged.leaks.size(), 1u);
  EXPECT_EQ(merged.leaks[0].direct.blocks, 2u);
  EXPECT_EQ(merged.leaks[0].frees[0].blocks, 6u);  // of two processes
  EXPECT_TRUE(check_totals(merged));
}

TEST(MergeReports, AnIndexWithoutModuleIsDropped) {
  Report one = report_of({leak({in_module("a", 7)})});
  const Report merged = merge_reports({one, one});
  EXPECT_FALSE(merged.leaks[0].allocation.stack[0].module.has_value());
}

TEST(MergeReports, AddsTotals) {
  Report one = report_of({leak(stack({"a"}), 10)});
  one.totals.omitted_lost = Count{.blocks = 1, .bytes = 5, .extra = {}};
  one.totals.lost += *one.totals.omitted_lost;
  one.totals.allocated += *one.totals.omitted_lost;
  one.totals.units = 2;
  one.totals.stages = {{.name = "s", .in = 4, .out = 2, .extra = {}}};
  one.leaks[0].known = true;
  recount_hidden(one);
  ASSERT_TRUE(check_totals(one));
  const Report merged = merge_reports({one, one, one});
  EXPECT_TRUE(check_totals(merged));
  EXPECT_EQ(merged.totals.lost.bytes, 45u);
  EXPECT_EQ(merged.totals.omitted_lost->bytes, 15u);
  EXPECT_EQ(merged.totals.freed.blocks, 15u);
  EXPECT_EQ(merged.totals.units, 6u);
  ASSERT_EQ(merged.totals.stages.size(), 1u);
  EXPECT_EQ(merged.totals.stages[0].in, 12u);
  EXPECT_EQ(merged.totals.known, 1u);
}

TEST(MergeReports, AssignsIdsAgain) {
  Report one = report_of({leak({frame("a", "a.c", 3)})});
  Report two = report_of({leak({frame("a", "a.c", 9)})});
  assign_ids(one);
  assign_ids(two);
  EXPECT_EQ(one.leaks[0].id, two.leaks[0].id);
  const Report merged = merge_reports({one, two});
  ASSERT_EQ(merged.leaks.size(), 2u);
  EXPECT_NE(merged.leaks[0].id, merged.leaks[1].id);
}

TEST(MergeReports, KeepsTheFirstSubjectAndSaysSo) {
  Report one = report_of({});
  one.subject.command = {"first"};
  one.series.resize(2);
  one.notes = {{.code = "n", .text = "same", .remedy = "", .extra = {}}};
  Report two = one;
  two.subject.command = {"second"};
  two.notes.push_back({.code = "n", .text = "other", .remedy = "", .extra = {}});
  const Report merged = merge_reports({one, two});
  EXPECT_EQ(merged.subject.command, one.subject.command);
  EXPECT_TRUE(merged.series.empty());
  ASSERT_EQ(merged.notes.size(), 3u);
  EXPECT_EQ(merged.notes[2].code, "merged");
  EXPECT_THAT(merged.notes[2].text, testing::HasSubstr("2 reports"));
}

TEST(MergeReports, OneStaysAsItIs) {
  Report one = report_of({leak(stack({"a"})), leak(stack({"a"}))});
  one.series.resize(2);
  EXPECT_EQ(merge_reports({one}), one);
}

TEST(MergeReports, WithCheckPromisesNoSums) {
  Report run = report_of({leak(stack({"a"}))});
  Report check = report_of({leak(stack({"b"}))});
  check.tool.engine = Engine::check;
  check.totals = {};
  const Report merged = merge_reports({run, check});
  EXPECT_EQ(merged.tool.engine, Engine::check);
  EXPECT_TRUE(check_totals(merged));
}

TEST(MergeReports, ManyLeaksAreMergedInLinearTime) {
  Report report;
  for (std::uint32_t i = 0; i < 100'000 / test::kScale; ++i) {
    Leak each = leak({frame("malloc"), frame(fmt::format("f{}", i % 50'000), "a.c", i % 50'000 + 1),
                      frame("main", "main.c", 3)});
    each.holders.resize(1);
    each.holders[0].name = fmt::format("h{}", i);
    report.leaks.push_back(std::move(each));
  }
  test::add_up(report);
  const std::clock_t start = std::clock();
  const Report merged = merge_reports({report, report});
  const double took = double(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(merged.leaks.size(), std::min(50'000u, 100'000 / test::kScale));
  EXPECT_TRUE(check_totals(merged));
  EXPECT_LT(took, 20) << "seconds of CPU: some step is quadratic";
}

}  // namespace
}  // namespace plumb
