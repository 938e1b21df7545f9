// Runs real programs (testdata/*.c, compiled here) and looks at the report.
#include "run/run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "core/accounting.h"
#include "run/launch.h"
#include "run/program.h"
#include "run/run_testing.h"

namespace plumb {
namespace {

// The program's own output goes to a file.
RunOutcome run(std::vector<std::string> command, unsigned depth = 30, std::string* output = nullptr,
               const std::string& input = "") {
  const std::string out_path = scratch().file("stdout").string();
  const std::string in_path = scratch().file("stdin").string();
  std::ofstream(in_path) << input;
  fflush(stdout);
  const int saved_out = dup(STDOUT_FILENO);
  const int saved_in = dup(STDIN_FILENO);
  const int out = open(out_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int in = open(in_path.c_str(), O_RDONLY | O_CLOEXEC);
  dup2(out, STDOUT_FILENO);
  dup2(in, STDIN_FILENO);
  fcntl(saved_out, F_SETFD, FD_CLOEXEC);
  fcntl(saved_in, F_SETFD, FD_CLOEXEC);
  RunOptions options;
  options.command = std::move(command);
  options.stack_depth = depth;
  Result<RunOutcome> outcome = run_program(options);
  dup2(saved_out, STDOUT_FILENO);
  dup2(saved_in, STDIN_FILENO);
  for (const int fd : {saved_out, saved_in, out, in}) close(fd);
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message();
    return {};
  }
  EXPECT_TRUE(check_totals(outcome->report));
  if (output != nullptr) *output = read_file(out_path).value_or("");
  return *std::move(outcome);
}

class RunBoth : public testing::TestWithParam<const Build*> {
 protected:
  const Build& build() const { return *GetParam(); }

  // The leaking program and its clean twin.
  void check_twins(const std::string& source, std::vector<std::string> arguments, Expected lost,
                   Expected clean = {}) {
    SCOPED_TRACE(fmt::format("{} {}", source, arguments.empty() ? "" : arguments.front()));
    std::vector<std::string> command = {compiled(source, build())};
    command.insert(command.end(), arguments.begin(), arguments.end());
    expect_lost(run(command).report, lost);
    command.front() = compiled(source, build(), "-DCLEAN");
    SCOPED_TRACE("clean");
    expect_lost(run(command).report, clean);
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, RunBoth, testing::Values(&kGcc, &kClang), [](const auto& info) {
  std::string name = info.param->name;
  std::erase(name, '-');
  return name;
});

TEST_P(RunBoth, Simple) { check_twins("simple.c", {}, {4, 307}); }
TEST_P(RunBoth, WholeFamily) { check_twins("family.c", {}, {9, 450}); }
TEST_P(RunBoth, CyclesAndChains) { check_twins("chains.c", {}, {10, 400}); }
TEST_P(RunBoth, KindsOfReference) { check_twins("references.c", {}, {1, 33}); }
TEST_P(RunBoth, ThreadsThatEnded) { check_twins("dead_threads.c", {}, {20, 480}); }
TEST_P(RunBoth, HeapsWithoutBlocks) { check_twins("dead_arena.c", {}, {1, 72}); }
TEST_P(RunBoth, UnreadableMemory) { check_twins("protected.c", {}, {1, 72}); }
TEST_P(RunBoth, DestructorsRunFirst) { check_twins("statics.cc", {}, {5, 3 * 16 + 2 * 64}); }

TEST_P(RunBoth, RunningThreads) {
  for (const char* place : {"register", "vector", "local", "tls"}) {
    check_twins("threads.c", {place}, {1, 72});
  }
}

TEST_P(RunBoth, ThreadThatBlocksEverySignal) {
  check_twins("blocked.c", {}, {1, 72});
  EXPECT_NE(note(run({compiled("blocked.c", build())}).report, "threads-asleep"), nullptr);
}

TEST_P(RunBoth, EveryWayToEnd) {
  for (const char* how :
       {"exit", "_exit", "_Exit", "quick_exit", "pthread_exit", "two", "exec", "exec-held"}) {
    check_twins("ends.c", {how}, {1, 72});
  }
  check_twins("ends.c", {"return"}, {2, 162}, {1, 90});
  check_twins("ends.c", {"exec-fails"}, {2, 80});
}

TEST_P(RunBoth, EveryFatalSignal) {
  const std::pair<const char*, int> ends[] = {
      {"abort", SIGABRT}, {"segv", SIGSEGV}, {"fpe", SIGFPE}, {"term", SIGTERM}};
  for (const auto& [how, signal] : ends) {
    SCOPED_TRACE(how);
    const RunOutcome outcome = run({compiled("ends.c", build()), how});
    EXPECT_TRUE(WIFSIGNALED(outcome.wait_status));
    EXPECT_EQ(WTERMSIG(outcome.wait_status), signal);
    EXPECT_EQ(outcome.report.subject.status->signal, signal);
    expect_lost(outcome.report, {1, 72});
    expect_lost(run({compiled("ends.c", build(), "-DCLEAN"), how}).report, {});
  }
}

TEST_P(RunBoth, Children) {
  for (const char* how : {"fork", "clone", "vfork", "system"}) {
    check_twins("forks.c", {how}, {1, 72});
    EXPECT_EQ(run({compiled("forks.c", build()), how}).wait_status, 0) << how;
  }
}

TEST_P(RunBoth, ModuleThatWasUnloaded) {
  const std::string plugin = compiled("plugin.c", build(), "-shared -fPIC");
  check_twins("plugin_host.c", {plugin}, {1, 72});
  const RunOutcome outcome = run({compiled("plugin_host.c", build()), plugin});
  const Leak* leak = lost_leak(outcome.report, "plugin_allocate");
  ASSERT_NE(leak, nullptr);
  EXPECT_EQ(outcome.report.modules[leak->allocation.stack[0].module->index].path, plugin);
}

TEST_P(RunBoth, NamesPlaceAndFunctionCalled) {
  const RunOutcome outcome = run({compiled("simple.c", build())});
  const Leak* leak = lost_leak(outcome.report, "make");
  ASSERT_NE(leak, nullptr);
  EXPECT_EQ(leak->allocation.api, "malloc");
  EXPECT_EQ(leak->direct.blocks, 3u);
  EXPECT_EQ(leak->sizes->min, 100u);
  EXPECT_EQ(leak->id.size(), 16u);
  const Frame& frame = leak->allocation.stack[0];
  EXPECT_TRUE(frame.file.ends_with("leak.h")) << frame.file;
  EXPECT_TRUE(frame.line);
  EXPECT_NE(lost_leak(outcome.report, "main"), nullptr);
  const Leak* copy = lost_leak(outcome.report, "strdup");
  if (copy == nullptr) copy = lost_leak(outcome.report, "__strdup");
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->direct.bytes, 7u);
  for (const Leak& each : outcome.report.leaks) {
    for (const Frame& each_frame : each.allocation.stack) {
      if (!each_frame.module) continue;
      const std::string& path = outcome.report.modules[each_frame.module->index].path;
      EXPECT_EQ(path.find("libplumb_preload"), std::string::npos);
    }
  }
}

TEST_P(RunBoth, CycleHasOneLeader) {
  const RunOutcome outcome = run({compiled("chains.c", build())});
  Count direct;
  Count indirect;
  for (const Leak& leak : outcome.report.leaks) {
    direct += leak.direct;
    indirect += leak.indirect;
  }
  EXPECT_EQ(direct.blocks, 3u);
  EXPECT_EQ(direct.bytes, 48u + 32u + 64u);
  EXPECT_EQ(indirect.blocks, 7u);
}

TEST_P(RunBoth, OperatorNewIsNamed) {
  const RunOutcome outcome = run({compiled("statics.cc", build())});
  // libstdc++'s operator new[] jumps to operator new: it is in no stack.
  for (const Leak& leak : outcome.report.leaks) {
    if (leak.kind == Kind::lost) {
      EXPECT_EQ(leak.allocation.api, "operator new");
    }
  }
}

TEST(Run, CallerOnly) {
  RunOptions options;
  options.command = {compiled("simple.c", kGcc)};
  options.stack_depth = 1;
  options.look = RunOptions::Look::scan_only;
  const Result<RunOutcome> scanned = run_program(options);
  ASSERT_TRUE(scanned);
  const RunOutcome& outcome = *scanned;
  expect_lost(outcome.report, {4, 307});
  for (const Leak& leak : outcome.report.leaks) EXPECT_EQ(leak.allocation.stack.size(), 1u);
}

TEST(Run, StaleReferencesInRecycledMemory) {
  RunOptions options;
  options.command = {compiled("recycled.c", kGcc)};
  for (const bool scrub : {true, false}) {
    options.scrub = scrub;
    const Result<RunOutcome> outcome = run_program(options);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->wait_status, 0);
    EXPECT_EQ(outcome->report.totals.lost.blocks, scrub ? 1u : 0u);
  }
  options.command = {compiled("recycled.c", kGcc, "-DCLEAN")};
  options.scrub = true;
  const Result<RunOutcome> clean = run_program(options);
  ASSERT_TRUE(clean);
  expect_lost(clean->report, {});
}

TEST(Run, KeepsOutputInputAndStatus) {
  std::string output;
  const RunOutcome outcome = run({compiled("simple.c", kGcc)}, 30, &output);
  EXPECT_EQ(output, "output of the program\n");
  EXPECT_EQ(WEXITSTATUS(outcome.wait_status), 7);
  EXPECT_EQ(outcome.report.subject.status->code, 7);
  EXPECT_GT(outcome.report.subject.pid.value_or(0), 0);
  EXPECT_EQ(outcome.report.subject.started.size(), std::string("2026-01-01T00:00:00Z").size());
  EXPECT_EQ(outcome.report.subject.command.size(), 1u);
}

// What a program prints without us.
std::string native_output(const std::string& command) {
  const std::string path = scratch().file("native").string();
  EXPECT_EQ(std::system(fmt::format("{} > {}", command, path).c_str()), 0);
  return *read_file(path);
}

TEST(Run, IsNotSeen) {
  std::string output;
  const std::string program = compiled("surroundings.c", kGcc);
  run({program}, 30, &output, "a line\n");
  EXPECT_EQ(output, native_output("echo a line | " + program));
}

TEST(Run, PassesOnTheUsersPreload) {
  const std::string preload = compiled("looking_malloc.c", kGcc, "-shared -fPIC");
  setenv("LD_PRELOAD", preload.c_str(), 1);
  std::string output;
  run({compiled("surroundings.c", kGcc)}, 30, &output);
  const RunOutcome leaking = run({compiled("simple.c", kGcc)});
  const std::string native = native_output(compiled("surroundings.c", kGcc) + " < /dev/null");
  unsetenv("LD_PRELOAD");
  EXPECT_EQ(output, native);
  EXPECT_NE(output.find("preload " + preload), std::string::npos);
  expect_lost(leaking.report, {4, 307});
}

TEST(Run, KilledProgramStillSaysWhatWasNotFreed) {
  const RunOutcome outcome = run({compiled("ends.c", kGcc), "kill"});
  EXPECT_EQ(WTERMSIG(outcome.wait_status), SIGKILL);
  EXPECT_EQ(outcome.report.totals.lost.blocks, 0u);
  EXPECT_EQ(outcome.report.totals.forgotten.blocks, 3u);
  EXPECT_EQ(outcome.report.totals.forgotten.bytes, 202u);
  ASSERT_NE(note(outcome.report, "no-scan"), nullptr);
  for (const Leak& leak : outcome.report.leaks) EXPECT_LT(leak.confidence, 1);
}

TEST(Run, ExecIsSaid) {
  const RunOutcome outcome = run({compiled("ends.c", kGcc), "exec"});
  EXPECT_EQ(outcome.wait_status, 0);
  const Note* exec = note(outcome.report, "exec");
  ASSERT_NE(exec, nullptr);
  EXPECT_NE(exec->text.find("true"), std::string::npos);
  EXPECT_EQ(note(run({compiled("ends.c", kGcc), "exec-fails"}).report, "exec"), nullptr);
}

TEST(Run, ForgottenCanBeLeftOut) {
  RunOptions options;
  options.command = {compiled("ends.c", kGcc), "exit"};
  options.forgotten = false;
  const Result<RunOutcome> outcome = run_program(options);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(check_totals(outcome->report));
  for (const Leak& leak : outcome->report.leaks) EXPECT_EQ(leak.kind, Kind::lost);
  EXPECT_EQ(outcome->report.totals.forgotten.bytes, 90u);
}

// Stacks are remembered by their return addresses: all of them count.
TEST(Run, CallersOfCallersAreToldApart) {
  RunOptions options;
  options.command = {compiled("callers.c", kGcc)};
  options.look = RunOptions::Look::scan_only;
  const Result<RunOutcome> outcome = run_program(options);
  ASSERT_TRUE(outcome);
  expect_lost(outcome->report, {6, 240});
  std::set<std::string> callers;
  for (const Leak& leak : outcome->report.leaks) {
    ASSERT_GE(leak.allocation.stack.size(), 3u);
    EXPECT_EQ(leak.direct.blocks, 3u);
    callers.insert(leak.allocation.stack[2].function);
  }
  EXPECT_EQ(callers, (std::set<std::string>{"first", "second"}));
}

TEST(Run, TheSecondRunSaysWhere) {
  for (const RunOptions::Look look : {RunOptions::Look::again, RunOptions::Look::once}) {
    RunOptions options;
    options.command = {compiled("callers.c", kGcc)};
    options.look = look;
    const Result<RunOutcome> outcome = run_program(options);
    ASSERT_TRUE(outcome);
    expect_lost(outcome->report, {6, 240});
    for (const Leak& leak : outcome->report.leaks) {
      ASSERT_TRUE(leak.loss);
      EXPECT_EQ(leak.loss->cause, Cause::scope_end);
      EXPECT_EQ(leak.loss->stack.front().function, "lose");
    }
  }
}

TEST(Run, KeptTraceGivesTheSameReport) {
  RunOptions options;
  options.command = {compiled("chains.c", kGcc)};
  options.keep_trace = scratch().file("kept.trace").string();
  options.look = RunOptions::Look::scan_only;
  const Result<RunOutcome> outcome = run_program(options);
  ASSERT_TRUE(outcome);
  const Result<Report> again = report_of_trace(options.keep_trace);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->leaks, outcome->report.leaks);
  EXPECT_EQ(again->totals, outcome->report.totals);
  EXPECT_EQ(again->modules, outcome->report.modules);
  EXPECT_FALSE(report_of_trace(scratch().file("no-such.trace").string()));
}

TEST(Run, ManyThreadsAtTheEnd) {
  const std::string program = compiled("stress.c", kClang);
  for (int i = 0; i < 20; ++i) {
    const RunOutcome outcome = run({program}, 1);
    EXPECT_EQ(outcome.wait_status, 0);
    expect_lost(outcome.report, {});
  }
}

// What the program does wrong is its own affair; it ends as it would alone, and
// the report is about what was there.
TEST(Run, ProgramsThatEndBadly) {
  const std::string program = compiled("damaged.c", kGcc);
  const auto scan = [&](const std::string& mode) {
    SCOPED_TRACE(mode);
    RunOptions options;
    options.command = {program, mode};
    options.look = RunOptions::Look::scan_only;
    Result<RunOutcome> outcome = run_program(options);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().message();
      return RunOutcome{};
    }
    EXPECT_TRUE(check_totals(outcome->report));
    return std::move(*outcome);
  };
  for (const char* mode : {"double-free", "overrun"}) {
    const RunOutcome outcome = scan(mode);
    EXPECT_TRUE(WIFSIGNALED(outcome.wait_status)) << mode;
    EXPECT_EQ(WTERMSIG(outcome.wait_status), SIGABRT) << mode;
    EXPECT_FALSE(outcome.report.leaks.empty()) << mode;
  }
  const RunOutcome full = scan("out-of-memory");
  EXPECT_EQ(WEXITSTATUS(full.wait_status), 7);
  EXPECT_EQ(full.report.totals.lost.bytes % (16 << 20), 40);  // the list only main had, and one
  EXPECT_EQ(note(full.report, "no-scan"), nullptr);
  // A container may allow fewer.
  const int alone = std::system((program + " threads").c_str());
  if (alone != 0) GTEST_SKIP() << "1,000 threads cannot be started here";
  const RunOutcome threads = scan("threads");
  EXPECT_EQ(WEXITSTATUS(threads.wait_status), 0);
  // The last one to store is not lost.
  EXPECT_EQ(threads.report.totals.lost.blocks, 1000);
}

// Until the file is there; a machine under load may take long.
bool appears(const fs::path& path) {
  constexpr int kTries = 12'000;
  for (int i = 0; i < kTries; ++i) {
    if (fs::exists(path)) return true;
    usleep(10'000);
  }
  return false;
}

TEST(Run, PassesSignalsOn) {
  // The program ends by the signal that is sent to us, once it runs.
  const fs::path started = scratch().file("started");
  std::thread sender([&] {
    // Not to this thread: the one that starts the program knows when it can be
    // passed on.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    if (appears(started)) kill(getpid(), SIGTERM);
  });
  const RunOutcome outcome = run({compiled("waits.c", kGcc), started.string()});
  sender.join();
  EXPECT_TRUE(WIFSIGNALED(outcome.wait_status));
  EXPECT_EQ(WTERMSIG(outcome.wait_status), SIGTERM);
}

TEST_P(RunBoth, PointersWithTags) {
  RunOptions options = options_for({compiled("tagged.c", build())});
  options.pointer_mask = 0xffffffffffff;
  const RunOutcome leaking = run_with(options);
  expect_lost(leaking.report, {1, 72});
  ASSERT_EQ(leaking.report.leaks.size(), 1U);
  ASSERT_TRUE(leaking.report.leaks[0].loss);
  EXPECT_EQ(leaking.report.leaks[0].loss->cause, Cause::overwritten);
  EXPECT_EQ(leaking.report.leaks[0].loss->stack.front().function, "lose");
  options.command = {compiled("tagged.c", build(), "-DCLEAN")};
  expect_lost(run_with(options).report, {});
  options.look = RunOptions::Look::once;
  expect_lost(run_with(options).report, {});
  options.look = RunOptions::Look::scan_only;
  options.pointer_mask = 0;
  expect_lost(run_with(options).report, {1, 72});
}

// The program serves until a report says what it should.
void check_reports_on_the_way(const std::string& program, Expected expected) {
  RunOptions options = options_for({program});
  options.look = RunOptions::Look::scan_only;
  options.report_every = 0.05;
  int right = 0;
  options.on_report = [&](Report& report) {
    EXPECT_TRUE(check_totals(report));
    if (report.totals.lost.blocks != expected.blocks) return;  // it has not got there yet
    EXPECT_EQ(report.totals.lost.bytes, expected.bytes);
    if (++right == 3) kill(static_cast<pid_t>(*report.subject.pid), SIGTERM);
  };
  const RunOutcome outcome = run_with(options);
  EXPECT_GE(right, 3);
  EXPECT_EQ(WTERMSIG(outcome.wait_status), SIGTERM);
  expect_lost(outcome.report, expected);
}

TEST(Run, ReportsOnTheWay) {
  check_reports_on_the_way(compiled("server.c", kGcc), {3, 150});
  check_reports_on_the_way(compiled("server.c", kGcc, "-DCLEAN"), {});
}

TEST(Run, FollowsProcesses) {
  RunOptions options = options_for({compiled("processes.c", kGcc)});
  options.follow = true;
  options.look = RunOptions::Look::scan_only;
  const RunOutcome outcome = run_with(options);
  EXPECT_EQ(outcome.wait_status, 0);
  ASSERT_EQ(outcome.processes.size(), 3U);
  expect_lost(outcome.processes[0], {1, 72});
  EXPECT_EQ(outcome.processes[0].subject.pid, outcome.report.subject.pid);
  std::set<std::uint64_t> others;
  for (const Report& report : {outcome.processes[1], outcome.processes[2]}) {
    EXPECT_TRUE(check_totals(report));
    others.insert(report.totals.lost.bytes);
  }
  EXPECT_EQ(others, (std::set<std::uint64_t>{40, 300}));
  expect_lost(outcome.report, {12, 412});
  options.command = {compiled("processes.c", kGcc, "-DCLEAN")};
  expect_lost(run_with(options).report, {});
}

TEST(Run, FreesThatWereDroppedAreFound) {
  RunOptions options = options_for({compiled("frees.c", kGcc)});
  expect_lost(run_with(options).report, {});
  options.drop = {20, 7};
  const RunOutcome outcome = run_with(options);
  const Note* dropped = note(outcome.report, "drop-frees");
  ASSERT_NE(dropped, nullptr);
  ASSERT_EQ(dropped->extra.size(), 1U);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = dropped->extra[0].second.find("0x", at)) != std::string::npos;) {
    count += dropped->extra[0].second.substr(at - 1, 1) == "\"" ? 1 : 0;
    ++at;
  }
  EXPECT_GT(count, 100U);
  EXPECT_LT(count, 300U);
  expect_lost(outcome.report, {count, 48 * count});
  EXPECT_EQ(note(outcome.report, "not-reproduced"), nullptr);
  for (const Leak& leak : outcome.report.leaks) EXPECT_TRUE(leak.loss);
}

TEST_P(RunBoth, AllocatorsOfTheProgramsOwn) {
  RunOptions options = options_for({compiled("pool.c", build())});
  options.look = RunOptions::Look::scan_only;
  expect_lost(run_with(options).report, {});
  options.custom = {*parse_custom_function("pool_take:size=2", false),
                    *parse_custom_function("pool_give:ptr=2", true)};
  const RunOutcome outcome = run_with(options);
  EXPECT_EQ(outcome.wait_status, 0);
  expect_lost(outcome.report, {2, 48});
  EXPECT_NE(lost_leak(outcome.report, "lose"), nullptr);
  EXPECT_EQ(note(outcome.report, "not-diverted"), nullptr);
  options.command = {compiled("pool.c", build(), "-DCLEAN")};
  expect_lost(run_with(options).report, {});
  options.custom = {*parse_custom_function("no_such_function", false)};
  EXPECT_NE(note(run_with(options).report, "not-diverted"), nullptr);
}

TEST(Custom, Options) {
  EXPECT_EQ(parse_custom_function("f", false)->argument, 1U);
  EXPECT_EQ(parse_custom_function("f:size=3", false)->argument, 3U);
  EXPECT_EQ(parse_custom_function("ns::f:ptr=2", true)->name, "ns::f");
  for (const char* wrong : {"", "f:size=0", "f:size=7", "f:size=x", ":size=1"}) {
    EXPECT_FALSE(parse_custom_function(wrong, false)) << wrong;
  }
}

TEST(Run, OnlyTheSitesOfAReport) {
  RunOptions options = options_for({compiled("callers.c", kGcc)});
  const RunOutcome all = run_with(options);
  expect_lost(all.report, {6, 240});
  ASSERT_EQ(all.report.leaks.size(), 2U);
  options.sites.emplace();
  ASSERT_TRUE(options.sites->add(all.report.leaks[0].allocation.stack));
  const RunOutcome one = run_with(options);
  ASSERT_EQ(one.report.leaks.size(), 1U);
  EXPECT_EQ(one.report.leaks[0].id, all.report.leaks[0].id);
  EXPECT_EQ(one.report.leaks[0].direct.blocks, 3U);
  EXPECT_TRUE(one.report.leaks[0].loss);
  EXPECT_EQ(note(one.report, "sites"), nullptr);
  options.command = {compiled("callers.c", kGcc, "-DCLEAN")};
  const RunOutcome clean = run_with(options);
  EXPECT_TRUE(clean.report.leaks.empty());
  EXPECT_NE(note(clean.report, "sites"), nullptr);
}

// At the loss, not at the end; and only when enough is lost.
TEST(Run, ActsOnALeak) {
  RunOptions options = options_for({compiled("tagged.c", kGcc)});
  options.pointer_mask = 0xffffffffffff;
  options.on_leak = "abort";
  for (const RunOptions::Look look : {RunOptions::Look::again, RunOptions::Look::once}) {
    options.look = look;
    options.command = {compiled("tagged.c", kGcc)};
    options.leak_threshold = 72;
    testing::internal::CaptureStderr();
    const RunOutcome aborted = run_with(options);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(WIFSIGNALED(aborted.wait_status));
    EXPECT_EQ(WTERMSIG(aborted.wait_status), SIGABRT);
    EXPECT_NE(told.find("leak[lost]: 72 bytes"), std::string::npos) << told;
    EXPECT_NE(told.find("overwritten"), std::string::npos) << told;
    EXPECT_NE(told.find("lose"), std::string::npos) << told;
    options.leak_threshold = 73;
    EXPECT_EQ(run_with(options).wait_status, 0);
    options.leak_threshold = 1;
    options.command = {compiled("tagged.c", kGcc, "-DCLEAN")};
    EXPECT_EQ(run_with(options).wait_status, 0);
  }
}

TEST(Drop, Options) {
  EXPECT_EQ(parse_drop_frees("10")->percent, 10U);
  EXPECT_EQ(parse_drop_frees("100:77")->seed, 77U);
  for (const char* wrong : {"", "0", "101", "x", "10:", "10:x", "-1", "5:1:2"}) {
    EXPECT_FALSE(parse_drop_frees(wrong)) << wrong;
  }
}

// What cannot be tracked is said before the start.

Error refusal(std::vector<std::string> command) {
  RunOptions options;
  options.command = std::move(command);
  const Result<RunOutcome> outcome = run_program(options);
  EXPECT_FALSE(outcome);
  return outcome ? Error{} : outcome.error();
}

TEST(RunRefuses, MissingProgram) {
  EXPECT_NE(refusal({"no-such-program-here"}).what.find("PATH"), std::string::npos);
  EXPECT_NE(refusal({"/no/such/program"}).what.find("No such file"), std::string::npos);
}

TEST(RunRefuses, DirectoryAndPlainFile) {
  EXPECT_EQ(refusal({"/usr"}).what, "is a directory");
  EXPECT_NE(refusal({std::string(PLUMB_TEST_DATA) + "/leak.h"}).what.find("cannot be executed"),
            std::string::npos);
  const fs::path text = scratch().file("text");
  std::ofstream(text) << "echo hello\n";
  fs::permissions(text, fs::perms::owner_all);
  EXPECT_NE(refusal({text.string()}).hint.find("sh"), std::string::npos);
}

TEST(RunRefuses, StaticallyLinked) {
  for (const char* flag : {"-static", "-static-pie"}) {
    const Error error = refusal({compiled("simple.c", kGcc, flag)});
    EXPECT_NE(error.what.find("statically linked"), std::string::npos) << flag;
    EXPECT_FALSE(error.hint.empty());
  }
}

TEST(RunRefuses, ThirtyTwoBit) {
  std::string content = *read_file(compiled("simple.c", kGcc));
  content[4] = 1;  // ELFCLASS32
  const fs::path path = scratch().file("elf32");
  std::ofstream(path, std::ios::binary) << content;
  fs::permissions(path, fs::perms::owner_all);
  EXPECT_NE(refusal({path.string()}).what.find("32-bit"), std::string::npos);
}

TEST(RunRefuses, OwnMalloc) {
  const Error error = refusal({compiled("own_malloc.c", kGcc, "-rdynamic -fno-builtin")});
  EXPECT_NE(error.what.find("own malloc"), std::string::npos);
  EXPECT_NE(error.hint.find("not started"), std::string::npos);
}

// What ends the program may have next to no stack: a handler's, or the smallest of a thread.
TEST(Run, NeedsNoStackOfTheProgramsAtItsEnd) {
  const std::string program = compiled("../../watch/testdata/ends.c", kGcc, "-pthread -w");
  EXPECT_EQ(WEXITSTATUS(run({program, "handler"}).wait_status), 9);
  EXPECT_EQ(WEXITSTATUS(run({program, "threads"}).wait_status), 10);
}

TEST(RunRefuses, MallocOfALibraryThatTakesInnerNames) {
  const std::string library = scratch().file("libinner.so");
  const std::string program = scratch().file("inner");
  const auto build = [](const std::string& what) {
    const std::string source = std::string(PLUMB_TEST_DATA) + "/inner_names.c";
    return std::system(fmt::format("gcc -O1 -w -fno-builtin {} {}", source, what).c_str());
  };
  ASSERT_EQ(build(fmt::format("-DLIBRARY -shared -fPIC -o {}", library)), 0);
  ASSERT_EQ(build(fmt::format("{} -o {}", library, program)), 0);
  const Error error = refusal({program});
  EXPECT_NE(error.what.find("own malloc"), std::string::npos) << error.what;
  EXPECT_NE(error.what.find("libinner.so"), std::string::npos) << error.what;
}

TEST(RunRefuses, OtherUsersRights) {
  if (getuid() != 0) GTEST_SKIP() << "needs to give a file away";
  const fs::path path = scratch().file("setuid");
  fs::copy_file(compiled("simple.c", kGcc), path);
  ASSERT_EQ(chown(path.c_str(), 1, 1), 0);
  ASSERT_EQ(chmod(path.c_str(), 04755), 0);
  EXPECT_NE(refusal({path.string()}).what.find("setuid"), std::string::npos);
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  EXPECT_TRUE(check_program(path.string()));
}

TEST(Run, Script) {
  const fs::path script = scratch().file("script");
  std::ofstream(script) << "#! /bin/sh\nexit 4\n";
  fs::permissions(script, fs::perms::owner_all);
  EXPECT_EQ(WEXITSTATUS(run({script.string()}).wait_status), 4);
  std::ofstream(script) << "#!/no/such/interpreter -x\n";
  EXPECT_NE(refusal({script.string()}).what.find("interpreter of"), std::string::npos);
  std::ofstream(script) << "#!\n";
  EXPECT_NE(refusal({script.string()}).what.find("names no program"), std::string::npos);
}

TEST(Launch, EnvironmentOfTheProgram) {
  const char* const empty[] = {"A=1", "PLUMB_RUNTIME=old", nullptr};
  Launch launch;
  launch.runtime = "/x.so";
  launch.stack_depth = 2;
  EXPECT_EQ(runtime_environment(empty, launch, 900),
            (std::vector<std::string>{"A=1", "LD_PRELOAD=/x.so",
                                      "PLUMB_RUNTIME=fd=900:depth=2:quick=0:scrub=1"}));
  const char* const preloaded[] = {"LD_PRELOAD=/theirs.so", nullptr};
  EXPECT_EQ(runtime_environment(preloaded, launch, 3)[0], "LD_PRELOAD=/theirs.so:/x.so");
}

}  // namespace
}  // namespace plumb
