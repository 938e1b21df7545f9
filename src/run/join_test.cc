#include "run/join.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/accounting.h"
#include "run/wants.h"

namespace plumb {
namespace {

TraceAddress at(std::uint32_t module, std::uint64_t offset) {
  return {ModuleId::of(module), offset};
}

// Two blocks of one site are lost, the first holds a third; one is reachable.
Trace first_run() {
  Trace trace;
  trace.phase = PLUMB_PHASE_DONE;
  trace.modules = {{"/no/such/app", "aa", "", {}}, {"/no/such/lib", "bb", "", {}}};
  trace.stacks = {{}, {at(0, 0x10)}, {at(1, 0x20)}};
  TraceGroup lost{Reach::lost, 1, 0, 0, "malloc", {2, 30, {}}, {1, 5, {}}, {10, 20, {}}};
  TraceGroup kept{Reach::reachable, 2, 0, 0, "calloc", {1, 7, {}}, {}, {7, 7, {}}};
  trace.groups = {kept, lost};
  trace.lost = {{{at(0, 0x10), 1, 10, 4}, 0, 10, 1, 0},
                {{at(0, 0x10), 1, 20, 1}, 0, 20, 1, 1},
                {{at(1, 0x28), 1, 5, 9}, 0, 5, 1, 0}};
  trace.freed = {1, 1, {}};
  trace.allocated = {5, 43, {}};
  return trace;
}

// Sees the first one again, in a program whose modules came in another order.
Trace second_run() {
  Trace trace;
  trace.phase = PLUMB_PHASE_DONE;
  trace.modules = {{"/no/such/other", "cc", "", {}}, {"/no/such/app", "aa", "", {}}};
  trace.stacks = {{}, {at(1, 0x10), at(1, 0x99)}, {at(1, 0x40)}, {at(0, 0x7)}};
  TraceWatched block;
  block.name = {at(1, 0x10), 1, 10, 4};
  block.reach = Reach::lost;
  block.allocation = 1;
  block.loss = 2;
  block.use = 3;
  block.cause = Cause::overwritten;
  trace.watched = {block};
  return trace;
}

TEST(Join, AddsPlacesToWhatWasRecognised) {
  Joined joined;
  const Report report = join_report(first_run(), second_run(), joined);
  EXPECT_EQ(joined.located, 1);
  EXPECT_EQ(joined.missing, 1);
  EXPECT_TRUE(check_totals(report));
  ASSERT_EQ(report.leaks.size(), 3);
  const Leak& rest = report.leaks[0];  // the larger one first
  EXPECT_FALSE(rest.loss);
  EXPECT_EQ(rest.direct.bytes, 20);
  const Leak& located = report.leaks[1];
  ASSERT_TRUE(located.loss);
  EXPECT_EQ(located.loss->cause, Cause::overwritten);
  EXPECT_EQ(located.loss->stack.front().offset, 0x40);
  EXPECT_EQ(located.loss->stack.front().module, ModuleId::of(0));
  EXPECT_EQ(located.allocation.stack.size(), 2);
  EXPECT_EQ(located.direct.bytes, 10);
  EXPECT_EQ(located.indirect.bytes, 5);
  ASSERT_TRUE(located.last_use);
  ASSERT_EQ(report.modules.size(), 3);
  EXPECT_EQ(report.modules[located.last_use->stack.front().module->index].path, "/no/such/other");
}

TEST(Join, KeepsWhatTheScanKnewWhenItIsNotLostAgain) {
  Trace second = second_run();
  second.watched[0].reach = Reach::reachable;
  Joined joined;
  const Report report = join_report(first_run(), second, joined);
  EXPECT_EQ(joined.located, 0);
  EXPECT_EQ(joined.other, 1);
  ASSERT_EQ(report.leaks.size(), 2);
  EXPECT_EQ(report.leaks[0].direct.blocks, 2);
  EXPECT_EQ(report.leaks[0].indirect.bytes, 5);
  EXPECT_FALSE(report.leaks[0].loss);
}

TEST(Join, AResultThatNobodyTookIsTheCallers) {
  Trace second = second_run();
  second.stacks[2] = {at(1, 0x40), at(1, 0x50)};
  second.watched[0].returned = true;
  Joined joined;
  const Report report = join_report(first_run(), second, joined);
  const Leak& located = report.leaks[1];
  ASSERT_TRUE(located.loss);
  EXPECT_EQ(located.loss->cause, Cause::discarded);
  EXPECT_EQ(located.loss->stack.front().offset, 0x50);
}

TEST(Wants, AreInOrderAndLeaveOutWhatHasNoName) {
  Trace trace = first_run();
  trace.lost[2].name.ordinal = 0;
  const Wants wants = wants_of(trace);
  EXPECT_EQ(wants.watched, 2);
  EXPECT_EQ(wants.left_out, 1);
  PlumbWantHeader header;
  ASSERT_GE(wants.list.size(), sizeof header);
  std::memcpy(&header, wants.list.data(), sizeof header);
  EXPECT_EQ(header.modules, 2);
  ASSERT_EQ(header.wants, 2);
  PlumbWant items[2];
  std::memcpy(items, wants.list.data() + sizeof header + 2 * sizeof(PlumbWantModule), sizeof items);
  EXPECT_EQ(items[0].size, 10);
  EXPECT_EQ(items[0].ordinal, 4);
  EXPECT_EQ(items[1].size, 20);
  EXPECT_TRUE(wants.list.ends_with("/no/such/app/no/such/lib"));
  EXPECT_EQ(header.scopes, 0);

  // Scopes are words between the wants and the strings.
  const Wants scoped = wants_of(trace, false, {1, 0x10, 0x20, 0});
  ASSERT_EQ(scoped.list.size(), wants.list.size() + 4 * sizeof(std::uint64_t));
  std::memcpy(&header, scoped.list.data(), sizeof header);
  EXPECT_EQ(header.scopes, 4);
  EXPECT_TRUE(scoped.list.ends_with("/no/such/app/no/such/lib"));
}

TEST(Wants, GiveEachGroupItsShare) {
  Trace trace = first_run();
  trace.lost.clear();
  for (std::uint32_t i = 0; i < kMaxWatched * 2; ++i) {
    trace.lost.push_back({{at(0, 0x10), 1, 10, i + 1}, 0, 10, 1, i});
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    trace.lost.push_back({{at(1, 0x20), 1, 10, i + 1}, 0, 10, 0, i});
  }
  const Wants wants = wants_of(trace);
  EXPECT_EQ(wants.watched, kMaxWatched);
  EXPECT_EQ(wants.left_out, kMaxWatched + 3);
}

}  // namespace
}  // namespace plumb
