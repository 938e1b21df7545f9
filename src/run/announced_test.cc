// Blocks of allocators of the program's own: found in the first run, placed in the second.
#include <set>

#include "run/custom.h"
#include "run/run_testing.h"

namespace plumb {
namespace {

constexpr Build kGccO2{"gcc-O2", "gcc", "g++", "-O2 -g"};

class Announced : public testing::TestWithParam<const Build*> {
 protected:
  const Build& build() const { return *GetParam(); }
  std::string program(const std::string& source, const std::string& more = "") const {
    return compiled(source, build(), "-I" PLUMB_TEST_DATA "/../../../include " + more);
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, Announced, testing::Values(&kGcc, &kGccO2, &kClang),
                         [](const auto& info) {
                           std::string name = info.param->name;
                           std::erase(name, '-');
                           return name;
                         });

// Each lost block's function, and why it was lost there.
std::set<std::pair<std::string, Cause>> losses(const Report& report) {
  std::set<std::pair<std::string, Cause>> result;
  for (const Leak& leak : report.leaks) {
    if (leak.kind != Kind::lost) continue;
    EXPECT_TRUE(leak.loss && leak.loss->cause && !leak.loss->stack.empty());
    if (leak.loss && leak.loss->cause && !leak.loss->stack.empty()) {
      result.emplace(leak.loss->stack.front().function, *leak.loss->cause);
    }
  }
  return result;
}

TEST_P(Announced, HavePlaces) {
  const std::set<std::pair<std::string, Cause>> expected = {{"lose_local", Cause::scope_end},
                                                            {"unlink_second", Cause::overwritten},
                                                            {"overwrite_name", Cause::overwritten}};
  for (const char* where : {"heap", "mapping", "array"}) {
    for (const RunOptions::Look look : {RunOptions::Look::again, RunOptions::Look::once}) {
      SCOPED_TRACE(fmt::format("{}{}", where, look == RunOptions::Look::once ? " once" : ""));
      RunOptions options = options_for({program("announced.c"), where});
      options.look = look;
      const RunOutcome outcome = run_with(options);
      expect_lost(outcome.report, {4, 40 + 16 + 4 + 6});
      EXPECT_EQ(losses(outcome.report), expected);
      EXPECT_EQ(note(outcome.report, "not-reproduced"), nullptr);
      options.command = {program("announced.c", "-DCLEAN"), where};
      expect_lost(run_with(options).report, {});
    }
  }
}

TEST_P(Announced, GoWithTheirPool) {
  for (const char* where : {"heap", "mapping", "array"}) {
    SCOPED_TRACE(where);
    const RunOutcome outcome = run_with(options_for({program("announced.c"), where, "destroyed"}));
    expect_lost(outcome.report, {});
  }
}

TEST_P(Announced, ByFunctions) {
  for (const RunOptions::Look look : {RunOptions::Look::again, RunOptions::Look::once}) {
    // A copy of a function for certain arguments is another function.
    RunOptions options = options_for({program("pool.c", "-fno-ipa-cp")});
    options.look = look;
    options.custom = {*parse_custom_function("pool_take:size=2", false),
                      *parse_custom_function("pool_give:ptr=2", true)};
    const RunOutcome outcome = run_with(options);
    expect_lost(outcome.report, {2, 48});
    for (const auto& [function, cause] : losses(outcome.report)) EXPECT_EQ(function, "lose");
    options.command = {program("pool.c", "-fno-ipa-cp -DCLEAN")};
    expect_lost(run_with(options).report, {});
  }
}

// The second run answers as the first one did: the program takes the same way.
TEST_P(Announced, Questions) {
  const RunOutcome outcome = run_with(options_for({program("asking.c")}));
  expect_lost(outcome.report, {2, 24 + 56});
  EXPECT_EQ(outcome.report.totals.excluded.bytes, 40U);
  EXPECT_EQ(note(outcome.report, "not-reproduced"), nullptr);
  EXPECT_EQ(outcome.wait_status, 0);
  // Had the answers been others, the second run would have ended early.
  EXPECT_EQ(losses(outcome.report).size(), 1U);
  const RunOutcome clean = run_with(options_for({program("asking.c", "-DCLEAN")}));
  expect_lost(clean.report, {});
  EXPECT_EQ(clean.wait_status, 0);
}

// Who jumps into the function that it calls last is the one that lost it.
TEST_P(Announced, TailCalls) {
  for (const RunOptions::Look look : {RunOptions::Look::again, RunOptions::Look::once}) {
    RunOptions options = options_for({program("tails.c")});
    options.look = look;
    const RunOutcome outcome = run_with(options);
    expect_lost(outcome.report, {3, 40 + 48 + 56});
    EXPECT_EQ(losses(outcome.report),
              (std::set<std::pair<std::string, Cause>>{{"lose_by_one", Cause::scope_end},
                                                       {"lose_by_two", Cause::scope_end},
                                                       {"lose_in_library", Cause::scope_end}}));
    options.command = {program("tails.c", "-DCLEAN")};
    expect_lost(run_with(options).report, {});
  }
}

// What is lost at each report that the program wants (two may become one), and at the end.
void check_wishes(const std::string& program, std::uint64_t then, std::uint64_t in_the_end) {
  RunOptions options = options_for({program});
  std::vector<std::uint64_t> lost;
  options.on_report = [&](Report& report) {
    EXPECT_TRUE(check_totals(report));
    EXPECT_EQ(report.tool.mode, "so far");
    lost.push_back(report.totals.lost.bytes);
  };
  for (const bool also_by_time : {false, true}) {
    options.look = also_by_time ? RunOptions::Look::scan_only : RunOptions::Look::again;
    if (also_by_time) options.report_every = 1000;
    lost.clear();
    const RunOutcome outcome = run_with(options);
    EXPECT_EQ(WEXITSTATUS(outcome.wait_status), 3);
    EXPECT_GE(lost.size(), 2U);
    EXPECT_LE(lost.size(), 3U);
    for (const std::uint64_t bytes : lost) EXPECT_EQ(bytes, then);
    EXPECT_EQ(outcome.report.totals.lost.bytes, in_the_end);
  }
}

TEST_P(Announced, WantTheirReportNow) {
  check_wishes(program("wishes.c", "-pthread"), 50, 120);
  check_wishes(program("wishes.c", "-pthread -DCLEAN"), 0, 0);
}

// Nobody reads it: the program goes on.
TEST_P(Announced, WantAReportOfNobody) {
  RunOptions options = options_for({program("wishes.c", "-pthread")});
  options.look = RunOptions::Look::once;
  expect_lost(run_with(options).report, {2, 120});
  options.look = RunOptions::Look::scan_only;
  options.follow = true;
  expect_lost(run_with(options).report, {2, 120});
}

}  // namespace
}  // namespace plumb
