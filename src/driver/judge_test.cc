#include "driver/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/sample_reports.h"

namespace plumb {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace plumb
