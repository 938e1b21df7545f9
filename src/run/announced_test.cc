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

}  // namespace
}  // namespace plumb
