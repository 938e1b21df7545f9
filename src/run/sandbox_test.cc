// Programs that shut themselves in, or go around our library: they run as they do alone, and
// there is a report, or a note that says why not.
#include <sys/wait.h>
#include <unistd.h>

#include "run/run_testing.h"

namespace plumb {
namespace {

RunOutcome run_sandbox(const char* how, const std::string& more = "") {
  RunOptions options = options_for({compiled("sandbox.c", kGcc, more), how});
  options.look = RunOptions::Look::scan_only;
  return run_with(options);
}

TEST(Sandbox, IsLookedInto) {
  for (const char* how : {"chroot", "allowing", "locked", "descriptors"}) {
    SCOPED_TRACE(how);
    const RunOutcome outcome = run_sandbox(how);
    if (WEXITSTATUS(outcome.wait_status) == 77) continue;  // not allowed here
    EXPECT_EQ(WEXITSTATUS(outcome.wait_status), 5);
    expect_lost(outcome.report, {2, 64});
    const RunOutcome clean = run_sandbox(how, "-DCLEAN");
    EXPECT_EQ(WEXITSTATUS(clean.wait_status), 5);
    expect_lost(clean.report, {});
  }
}

TEST(Sandbox, IsNotBroken) {
  for (const char* how : {"killing", "killing-directly"}) {
    SCOPED_TRACE(how);
    const RunOutcome outcome = run_sandbox(how);
    EXPECT_TRUE(WIFEXITED(outcome.wait_status));
    EXPECT_EQ(WEXITSTATUS(outcome.wait_status), 5);
    EXPECT_EQ(outcome.report.totals.lost.blocks, 0U);
    EXPECT_FALSE(outcome.report.notes.empty());
  }
}

// What began it ends as it does by itself, with a scan.
TEST(Sandbox, Daemon) {
  RunOptions options = options_for({compiled("daemon.c", kGcc)});
  options.look = RunOptions::Look::scan_only;
  const RunOutcome outcome = run_with(options);
  EXPECT_EQ(outcome.wait_status, 0);
  expect_lost(outcome.report, {1, 24});
  options.command = {compiled("daemon.c", kGcc, "-DCLEAN")};
  expect_lost(run_with(options).report, {});
}

TEST(Sandbox, BlocksThatWereFreedWithoutUs) {
  const std::string plugin = compiled("deep_plugin.c", kGcc, "-shared -fPIC");
  RunOptions options = options_for({compiled("deep_host.c", kGcc), plugin});
  const RunOutcome outcome = run_with(options);
  EXPECT_EQ(outcome.wait_status, 0);
  expect_lost(outcome.report, {2, 112});
  options.command = {compiled("deep_host.c", kGcc, "-DCLEAN"), plugin};
  expect_lost(run_with(options).report, {});
}

}  // namespace
}  // namespace plumb
