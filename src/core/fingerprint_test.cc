#include "core/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "core/test_leaks.h"

namespace plumb {
namespace {

using test::frame;
using test::leak;
using test::lost_at;
using test::report_of;
using test::stack;

Frame placed(const char* function, const char* file, std::uint32_t line, std::uint32_t start,
             std::uint32_t column = 0) {
  Frame result = frame(function, file, line, column);
  if (start != 0) result.function_line = start;
  return result;
}

// A report with several leaks that share all words, and some that do not.
Report sample() {
  Report report;
  report.modules.push_back(
      {.path = "/home/a/build/app", .build_id = "01", .debug = "full", .extra = {}});
  const auto allocated = [&](std::uint32_t line, std::uint32_t column = 5) {
    Stack frames = {frame("malloc"), placed("parse(int)", "/home/a/src/parse.c", line, 10, column),
                    placed("main", "/home/a/src/main.c", 40, 30), frame("__libc_start_main"),
                    frame("_start")};
    for (std::size_t i = 0; i < frames.size(); ++i) {
      frames[i].module = ModuleId::of(0);
      frames[i].offset = 0x1000 + line * 16 + i;
    }
    return frames;
  };
  report.leaks = {leak(allocated(12)), leak(allocated(17)), leak(allocated(17, 9)),
                  lost_at(allocated(12), {placed("drop", "/home/a/src/parse.c", 60, 50)}),
                  lost_at(allocated(12), {placed("drop", "/home/a/src/parse.c", 63, 50)})};
  test::add_up(report);
  assign_ids(report);
  return report;
}

std::vector<std::string> ids(const Report& report) {
  std::vector<std::string> list;
  for (const Leak& each : report.leaks) list.push_back(each.id);
  return list;
}

template <typename Change>
void change_frames(Report& report, Change change) {
  for (Leak& each : report.leaks) {
    for (Frame& one : each.allocation.stack) change(one);
    if (each.loss) {
      for (Frame& one : each.loss->stack) change(one);
    }
  }
}

template <typename Change>
void expect_same_ids_after(Change change) {
  const Report before = sample();
  Report after = before;
  change(after);
  assign_ids(after);
  EXPECT_EQ(ids(after), ids(before));
}

TEST(AssignIds, AreDifferentHexadecimalWords) {
  const std::vector<std::string> list = ids(sample());
  EXPECT_EQ(std::set<std::string>(list.begin(), list.end()).size(), list.size());
  for (const std::string& id : list) EXPECT_THAT(id, testing::MatchesRegex("[0-9a-f]{16}"));
}

// A change of this value breaks every baseline that users have.
TEST(AssignIds, StayTheSameAcrossVersions) {
  Report report = report_of({lost_at(stack({"malloc", "make", "main"}), stack({"drop", "main"}))});
  assign_ids(report);
  EXPECT_EQ(identity(report.leaks[0], report),
            "lost memory\nallocated make\nallocated main\nlost drop\nlost main\n"
            "cause overwritten\nholder p\n");
  EXPECT_EQ(report.leaks[0].id, "c910330115fef1e8");
}

TEST(AssignIds, SurviveLinesAddedAboveTheFunction) {
  expect_same_ids_after([](Report& report) {
    change_frames(report, [](Frame& one) {
      if (one.line) *one.line += 100;
      if (one.function_line) *one.function_line += 100;
    });
  });
}

TEST(AssignIds, SurviveLinesAddedInsideTheFunction) {
  expect_same_ids_after([](Report& report) {
    change_frames(report, [](Frame& one) {
      if (one.line) *one.line += *one.line > 15 ? 3 : 0;
    });
  });
}

TEST(AssignIds, SurviveWithoutKnownFunctionLines) {
  expect_same_ids_after([](Report& report) {
    change_frames(report, [](Frame& one) {
      one.function_line.reset();
      if (one.line) *one.line += 7;
    });
  });
}

TEST(AssignIds, SurviveAnotherDirectory) {
  expect_same_ids_after([](Report& report) {
    report.modules[0].path = "/opt/elsewhere/app";
    report.modules[0].build_id = "ff";
    change_frames(report, [](Frame& one) {
      if (!one.file.empty()) one.file = "/tmp/x/y" + one.file.substr(7);
    });
  });
}

TEST(AssignIds, SurviveOtherAddresses) {
  expect_same_ids_after([](Report& report) {
    change_frames(report, [](Frame& one) { *one.offset = 0x900000 - *one.offset; });
  });
}

TEST(AssignIds, SurviveCloneSuffixesAndInlining) {
  expect_same_ids_after([](Report& report) {
    change_frames(report, [](Frame& one) {
      if (one.function == "parse(int)") one.function = "parse(int) [clone .isra.0]";
      if (one.function == "drop") one.function = "drop.cold";
      one.inlined = true;
      one.linkage = "other";
    });
  });
}

TEST(AssignIds, SurviveAnotherAllocatorFrameAndStartUp) {
  expect_same_ids_after([](Report& report) {
    for (Leak& each : report.leaks) {
      each.allocation.stack.front().function = "__interceptor_malloc";
      each.allocation.stack.pop_back();
    }
  });
}

TEST(AssignIds, SurviveDeeperRecursion) {
  Report once = report_of({leak(stack({"walk", "main"}))});
  Report often = report_of({leak(stack({"walk", "walk", "walk", "main"}))});
  assign_ids(once);
  assign_ids(often);
  EXPECT_EQ(once.leaks[0].id, often.leaks[0].id);
}

TEST(AssignIds, SurviveOtherSizes) {
  expect_same_ids_after([](Report& report) {
    for (Leak& each : report.leaks) each.direct.bytes *= 3;
  });
}

TEST(AssignIds, DoNotDependOnTheOrderOfTheList) {
  const Report sorted = sample();
  std::map<std::string, std::uint32_t> line_of_id;
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    Report shuffled = sorted;
    std::ranges::shuffle(shuffled.leaks, random);
    const std::vector<std::string> expected = ids(shuffled);
    for (Leak& each : shuffled.leaks) each.id.clear();
    assign_ids(shuffled);
    EXPECT_EQ(ids(shuffled), expected);
  }
}

TEST(AssignIds, DifferForWhatIsDifferent) {
  const Leak base = lost_at(stack({"malloc", "make", "main"}), stack({"drop", "main"}));
  std::vector<Leak> others(8, base);
  others[0].allocation.stack[1].function = "build";
  others[1].loss->stack[0].function = "let_go";
  others[2].loss->holder->name = "q";
  others[3].loss->cause = Cause::scope_end;
  others[4].kind = Kind::stale;
  others[5].resource = "file";
  others[6].allocation.stack.insert(others[6].allocation.stack.begin() + 2, frame("helper"));
  others[7].loss.reset();
  std::set<std::string> seen;
  others.push_back(base);
  for (const Leak& other : others) {
    Report report = report_of({other});
    assign_ids(report);
    EXPECT_TRUE(seen.insert(report.leaks[0].id).second);
  }
}

TEST(Identity, CannotBeForgedByNames) {
  Leak one = lost_at(stack({"a", "b"}), {});
  Leak two = lost_at(stack({"a\nallocated b"}), {});
  const Report none;
  EXPECT_NE(identity(one, none), identity(two, none));
  one.loss->holder->name = "x\nholder y";
  EXPECT_EQ(std::ranges::count(identity(one, none), '\n'), 5);
}

TEST(Identity, OfUnnamedFramesIsModuleAndOffset) {
  Report report;
  report.modules.push_back({.path = "/a/libx.so", .build_id = "", .debug = "", .extra = {}});
  Frame bare;
  bare.module = ModuleId::of(0);
  bare.offset = 0x10;
  Frame wild = bare;
  wild.module = ModuleId::of(9);
  const Leak one = leak({bare, wild});
  EXPECT_EQ(identity(one, report), "lost memory\nallocated libx.so+0x10\nallocated ?\n");
}

}  // namespace
}  // namespace plumb
