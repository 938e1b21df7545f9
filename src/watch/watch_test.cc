// Runs real programs (testdata/*.c, compiled here) and looks at the report; and
// holds the runtime to its promise that a program never notices it.
#include "watch/watch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "core/accounting.h"
#include "watch/places.h"
#include "watch/snapshot.h"

namespace plumb {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "plumb-watch-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Scratch() { fs::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};
const Scratch& scratch() {
  static const Scratch scratch;
  return scratch;
}

std::string compiled(const std::string& source, const std::string& flags = "") {
  static std::map<std::string, std::string> known;
  const auto [place, is_new] = known.try_emplace(source + flags);
  if (is_new) {
    place->second = scratch().file(fmt::format("program{}", known.size()));
    const std::string command = fmt::format("gcc -O1 -g -w -fno-builtin -pthread {} {}/{} -o {}",
                                            flags, PLUMB_TEST_DATA, source, place->second);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  return place->second;
}

struct Seen {
  Report report;
  int wait_status = 0;
  std::string output;
};

Seen watch(std::vector<std::string> command, WatchOptions options = {}) {
  const std::string out_path = scratch().file("stdout");
  fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  fcntl(saved, F_SETFD, FD_CLOEXEC);
  const int out = open(out_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  dup2(out, STDOUT_FILENO);
  close(out);
  options.command = std::move(command);
  Result<WatchOutcome> outcome = watch_program(options);
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  Seen seen;
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message());
  if (!outcome) return seen;
  seen.report = std::move(outcome->report);
  seen.wait_status = outcome->wait_status;
  seen.output = read_file(out_path).value_or("");
  EXPECT_TRUE(check_totals(seen.report));
  return seen;
}

WatchOptions quick() {
  WatchOptions options;
  options.epoch = 0.005;
  options.interval = 0.2;
  options.sample = 4096;
  return options;
}

std::string verdict_of(const Report& report, const std::string& function) {
  for (const Leak& leak : report.leaks) {
    const Frame* frame = user_frame(leak.allocation.stack);
    if (frame != nullptr && frame->function == function && leak.age) return leak.age->verdict;
  }
  return "none";
}

TEST(Watch, TellsALeakFromACacheAndFromStartUpData) {
  WatchOptions options = quick();
  options.policy.list_all = true;
  const Seen seen = watch({compiled("sites.c"), "128"}, options);
  EXPECT_EQ(seen.output, "done\n");
  EXPECT_EQ(WEXITSTATUS(seen.wait_status), 3);
  EXPECT_EQ(verdict_of(seen.report, "grow_list"), "leak");
  EXPECT_EQ(verdict_of(seen.report, "fill_table"), "start-up");
  EXPECT_THAT(verdict_of(seen.report, "fill_cache"), testing::AnyOf("cache", "none"));
  EXPECT_EQ(verdict_of(seen.report, "work"), "none");
  EXPECT_FALSE(seen.report.series.empty());
  for (const Leak& leak : seen.report.leaks) {
    if (leak.age->verdict != "leak") continue;
    EXPECT_EQ(leak.kind, Kind::stale);
    EXPECT_GT(leak.confidence, 0.5);
    EXPECT_LT(*leak.age->bytes_low, static_cast<double>(leak.direct.bytes) + 1);
    EXPECT_GT(*leak.age->drag, 0);
    EXPECT_GT(*leak.age->growth, 1);
  }
}

// A leak all along, and the program tidies up before it ends: by its own report at the
// end nothing would be left.
TEST(Watch, WhatIsFreedOnlyAtTheEndWasALeak) {
  const Seen seen = watch({compiled("sites.c", "-DTIDY"), "128"}, quick());
  EXPECT_EQ(seen.output, "done\n");
  EXPECT_EQ(verdict_of(seen.report, "grow_list"), "leak");
  EXPECT_EQ(verdict_of(seen.report, "fill_table"), "none");
  EXPECT_EQ(verdict_of(seen.report, "work"), "none");
  const bool said = std::ranges::any_of(
      seen.report.notes, [](const Note& note) { return note.code == "freed-at-end"; });
  EXPECT_TRUE(said);
}

TEST(Watch, FindsNothingInTheCleanTwin) {
  const Seen seen = watch({compiled("sites.c", "-DCLEAN"), "80"}, quick());
  EXPECT_EQ(seen.output, "done\n");
  EXPECT_TRUE(seen.report.leaks.empty());
}

std::map<std::string, Count> lost_in(const Report& report) {
  std::map<std::string, Count> found;
  for (const Leak& leak : report.leaks) {
    const Frame* frame = user_frame(leak.allocation.stack);
    if (leak.kind == Kind::lost && frame != nullptr) found[frame->function] += leak.total();
  }
  return found;
}

// With one sample in a byte every block is one, and its weight is 1.
TEST(Watch, TellsWhatIsLostAtTheEndFromWhatIsHeld) {
  WatchOptions options = quick();
  options.sample = 1;
  const Seen seen = watch({compiled("lost.c")}, options);
  EXPECT_EQ(seen.output, "done\n");
  EXPECT_EQ(WEXITSTATUS(seen.wait_status), 4);
  const std::map<std::string, Count> lost = lost_in(seen.report);
  ASSERT_EQ(lost.size(), 2u);
  // A word that is left of a pointer may hold one or the other.
  EXPECT_NEAR(static_cast<double>(lost.at("lose_small").blocks), 1100, 3);
  EXPECT_EQ(lost.at("lose_large").blocks, 1u);
  EXPECT_EQ(lost.at("lose_large").bytes, 400000u);
  EXPECT_GT(seen.report.totals.forgotten.blocks, 2000u);
  EXPECT_EQ(seen.report.totals.excluded.blocks, 0u);
}

// Most blocks on the way are none of the samples.
TEST(Watch, LostSamplesAreScaledUp) {
  const Seen seen = watch({compiled("lost.c")}, quick());
  const std::map<std::string, Count> lost = lost_in(seen.report);
  ASSERT_TRUE(lost.contains("lose_small"));
  EXPECT_NEAR(static_cast<double>(lost.at("lose_small").bytes), 110000, 80000);
  EXPECT_FALSE(lost.contains("hold"));
  EXPECT_FALSE(lost.contains("main"));
  EXPECT_FALSE(lost.contains("work"));
}

TEST(Watch, NothingIsLostInTheCleanTwin) {
  WatchOptions options = quick();
  for (const std::uint64_t sample : {std::uint64_t{1}, std::uint64_t{512}}) {
    options.sample = sample;
    const Seen seen = watch({compiled("lost.c", "-DCLEAN")}, options);
    EXPECT_EQ(WEXITSTATUS(seen.wait_status), 4);
    EXPECT_THAT(lost_in(seen.report), testing::IsEmpty());
  }
}

TEST(Watch, ReadsNoMoreMemoryThanItMay) {
  WatchOptions options = quick();
  options.search = 64 << 10;
  const Seen little = watch({compiled("lost.c")}, options);
  EXPECT_THAT(lost_in(little.report), testing::IsEmpty());
  EXPECT_GT(little.report.totals.excluded.blocks, 0u);
  const auto is_note = [](const Note& note) { return note.code == "not-searched"; };
  EXPECT_TRUE(std::ranges::any_of(little.report.notes, is_note));
  options.search = 0;
  const Seen none = watch({compiled("lost.c")}, options);
  EXPECT_THAT(lost_in(none.report), testing::IsEmpty());
  EXPECT_FALSE(std::ranges::any_of(none.report.notes, is_note));
}

// One sample in 64 bytes: nearly every block is one.
TEST(Watch, BlocksKeepWhatIsInThem) {
  WatchOptions options = quick();
  options.sample = 64;
  options.epoch = 0.002;
  const Seen seen = watch({compiled("contents.c")}, options);
  EXPECT_EQ(seen.output, "all well\n");
  EXPECT_EQ(WEXITSTATUS(seen.wait_status), 0);
}

TEST(Watch, ProgramsEndAsTheyWouldHave) {
  const std::string program = compiled("ends.c");
  EXPECT_EQ(WEXITSTATUS(watch({program}, quick()).wait_status), 4);
  EXPECT_EQ(WEXITSTATUS(watch({program, "_exit"}, quick()).wait_status), 7);
  EXPECT_EQ(WEXITSTATUS(watch({program, "quick"}, quick()).wait_status), 8);
  EXPECT_EQ(WEXITSTATUS(watch({program, "handler"}, quick()).wait_status), 9);
  EXPECT_EQ(WEXITSTATUS(watch({program, "threads"}, quick()).wait_status), 10);
  EXPECT_EQ(WTERMSIG(watch({program, "abort"}, quick()).wait_status), SIGABRT);
  const Seen other = watch({program, "exec"}, quick());
  EXPECT_EQ(other.output, "the other program\n");
  EXPECT_EQ(WEXITSTATUS(other.wait_status), 0);
}

// What was seen until then is told.
TEST(Watch, ProgramsThatShutThemselvesInGoOn) {
  const std::string program = compiled("ends.c");
  for (const char* how : {"shut-in", "shut-in-tightly", "all-shut-in"}) {
    SCOPED_TRACE(how);
    const Seen seen = watch({program, how}, quick());
    EXPECT_EQ(seen.output, "shut in\nend\n");
    EXPECT_EQ(WEXITSTATUS(seen.wait_status), 4);
    EXPECT_NEAR(static_cast<double>(seen.report.totals.excluded.bytes), 20000 * 300, 20000 * 100);
    EXPECT_TRUE(std::ranges::any_of(seen.report.notes,
                                    [](const Note& note) { return note.code == "shut-in"; }));
  }
}

TEST(Watch, AKilledProgramLeavesItsLastSnapshot) {
  WatchOptions options = quick();
  options.snapshot_file = scratch().file("killed.%p");
  const Seen seen = watch({compiled("ends.c"), "kill", scratch().file("killed.")}, options);
  EXPECT_EQ(WTERMSIG(seen.wait_status), SIGKILL);
  EXPECT_NEAR(static_cast<double>(seen.report.totals.excluded.bytes), 20000 * 300, 20000 * 100);
  ASSERT_FALSE(seen.report.notes.empty());
  EXPECT_EQ(seen.report.notes.back().code, "last-snapshot");
  const std::string file = scratch().file(fmt::format("killed.{}", *seen.report.subject.pid));
  const Result<std::string> kept = read_file(file);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(report_of_snapshot(*kept, file, {}));
}

// It can no longer write to the folder of its snapshots; the last one counts its frees.
TEST(Watch, AProgramThatGivesUpItsRightsIsSeenToItsEnd) {
  if (geteuid() != 0) GTEST_SKIP() << "has no rights to give up";
  for (const bool named : {false, true}) {
    WatchOptions options = quick();
    if (named) options.snapshot_file = scratch().file("rights.snapshot");
    const Seen seen = watch({compiled("ends.c"), "rights"}, options);
    EXPECT_EQ(WEXITSTATUS(seen.wait_status), 4);
    EXPECT_NEAR(static_cast<double>(seen.report.totals.freed.bytes), 20000 * 300, 20000 * 100);
    for (const Note& note : seen.report.notes) EXPECT_NE(note.code, "last-snapshot");
  }
}

TEST(Watch, ARunningProgramCanBeAsked) {
  const std::string over = scratch().file("over");
  std::thread watcher([&] { watch({compiled("ends.c"), "wait", over}, quick()); });
  Result<std::string> bytes = fail({}, "not asked");
  std::string socket;
  const std::string folder = *watch_folder();
  for (int tries = 0; tries < 1000 && !bytes; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::uint64_t pid = std::strtoull(entry.path().stem().c_str(), nullptr, 10);
      const std::string command = read_file(fmt::format("/proc/{}/cmdline", pid)).value_or("");
      if (entry.path().extension() != ".socket" || !command.starts_with(scratch().file(""))) {
        continue;
      }
      socket = entry.path();
      bytes = ask_for_snapshot(pid);
      struct stat info{};
      if (stat(socket.c_str(), &info) == 0) EXPECT_EQ(info.st_mode & 077, 0U);
    }
  }
  ASSERT_TRUE(write_file(over, ""));
  watcher.join();
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(report_of_snapshot(*bytes, "asked", {}));
  EXPECT_FALSE(fs::exists(socket));
  EXPECT_FALSE(ask_for_snapshot(1));
}

TEST(Watch, TheProgramsSurroundingsAreItsOwn) {
  const std::string script = scratch().file("script");
  ASSERT_TRUE(write_file(script,
                         "ls /proc/self/fd | wc -l\nls /proc/$$/fd\n"
                         "env | grep -c -E 'PLUMB|LD_PRELOAD'\nexit 5\n"));
  const std::string native = scratch().file("native");
  EXPECT_NE(std::system(fmt::format("sh {} > {}", script, native).c_str()), 0);
  const Seen seen = watch({"sh", script}, quick());
  EXPECT_EQ(seen.output, read_file(native).value_or("?"));
  EXPECT_EQ(WEXITSTATUS(seen.wait_status), 5);
}

TEST(Watch, AChildsBlocksAreItsOwnHoweverItIsMade) {
  for (const char* how : {"fork", "clone", "syscall", "spawn", "vfork", "daemon"}) {
    SCOPED_TRACE(how);
    const std::string native = scratch().file("native");
    EXPECT_NE(std::system(fmt::format("{} {} > {}", compiled("family.c"), how, native).c_str()), 0);
    const Seen seen = watch({compiled("family.c"), how}, quick());
    EXPECT_EQ(seen.output, read_file(native).value_or("?"));
    EXPECT_EQ(WEXITSTATUS(seen.wait_status), 3);
    EXPECT_EQ(verdict_of(seen.report, "grow_list"), "none");  // a child's
  }
}

TEST(Watch, ChildrenAreFollowedWhenAsked) {
  for (const char* how : {"fork", "clone", "syscall", "spawn", "vfork", "daemon"}) {
    SCOPED_TRACE(how);
    const std::string native = scratch().file("native");
    EXPECT_NE(std::system(fmt::format("{} {} > {}", compiled("family.c"), how, native).c_str()), 0);
    WatchOptions options = quick();
    options.follow = true;
    const Seen seen = watch({compiled("family.c"), how}, options);
    EXPECT_EQ(seen.output, read_file(native).value_or("?"));
    EXPECT_EQ(WEXITSTATUS(seen.wait_status), 3);
    EXPECT_EQ(verdict_of(seen.report, "grow_list"), "leak");
  }
}

TEST(Watch, FindsNothingInCleanChildren) {
  WatchOptions options = quick();
  options.follow = true;
  const Seen seen = watch({compiled("family.c", "-DCLEAN"), "fork"}, options);
  EXPECT_EQ(seen.output, "c is done\nchild 5\n");
  EXPECT_EQ(verdict_of(seen.report, "grow_list"), "none");
}

// What it is told to do with a limit on its own process, and the program's after it.
class Limited {
 public:
  Limited(__rlimit_resource_t what, rlim_t most) : what_(what) {
    getrlimit(what_, &old_);
    const rlimit limit{most, old_.rlim_max};
    setrlimit(what_, &limit);
  }
  ~Limited() { setrlimit(what_, &old_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  __rlimit_resource_t what_;
  rlimit old_{};
};

// As on a full disk: a snapshot does not fit, what the program writes does.
TEST(Watch, AFullDiskIsNotTheProgramsProblem) {
  const std::string program = compiled("sites.c");
  WatchOptions options = quick();
  options.snapshot_file = scratch().file("full.%p");
  Seen seen;
  {
    std::signal(SIGXFSZ, SIG_IGN);
    const Limited limited(RLIMIT_FSIZE, 2048);
    seen = watch({program, "40"}, options);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  EXPECT_EQ(seen.output, "done\n");
  EXPECT_EQ(WEXITSTATUS(seen.wait_status), 3);
  ASSERT_FALSE(seen.report.notes.empty());
  EXPECT_EQ(seen.report.notes.front().code, "not-watched");
  for (const fs::directory_entry& entry : fs::directory_iterator(scratch().file(""))) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("full.")) << entry.path();
  }
}

TEST(Watch, LittleAddressSpaceIsLeftToTheProgram) {
  const std::string program = compiled("contents.c");
  WatchOptions options = quick();
  options.sample = 64;
  const auto run_with = [&](rlim_t most) {
    const Limited limited(RLIMIT_AS, most);
    return watch({program}, options);
  };
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
  GTEST_SKIP() << "the sanitizer needs all addresses";
#endif
  const Seen little = run_with(rlim_t{900} << 20);
  EXPECT_EQ(little.output, "all well\n");
  ASSERT_FALSE(little.report.notes.empty());
  EXPECT_THAT(little.report.notes.front().text, HasSubstr("address space"));
  const Seen some = run_with(rlim_t{1200} << 20);
  EXPECT_EQ(some.output, "all well\n");
  EXPECT_GT(some.report.totals.allocated.blocks, 0U);
}

TEST(Watch, AProgramThatRunsOutOfMemoryOrChangesItsLimitsDoesAsItWouldHave) {
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
  GTEST_SKIP() << "the sanitizer needs all addresses";
#endif
  for (const char* how : {"memory", "files"}) {
    for (const bool follow : {false, true}) {
      SCOPED_TRACE(how);
      const std::string native = scratch().file("native");
      const std::string program = compiled("limits.c");
      EXPECT_NE(std::system(fmt::format("{} {} > {}", program, how, native).c_str()), 0);
      WatchOptions options = quick();
      options.sample = 256;
      options.follow = follow;
      const Seen seen = watch({program, how}, options);
      EXPECT_EQ(seen.output, read_file(native).value_or("?"));
      EXPECT_THAT(seen.output, HasSubstr("whole"));
      EXPECT_EQ(WEXITSTATUS(seen.wait_status), 3);
      EXPECT_GT(seen.report.totals.allocated.blocks, 0U);
    }
  }
}

// ulimit -d: the runtime's tables count, too, and so must leave room.
TEST(Watch, LittleDataIsLeftToTheProgram) {
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
  GTEST_SKIP() << "the sanitizer needs all addresses";
#endif
  const std::string program = compiled("limits.c");
  for (const rlim_t megabytes : {260, 1200}) {
    SCOPED_TRACE(megabytes);
    const Limited limited(RLIMIT_DATA, megabytes << 20);
    const Seen seen = watch({program, "data"}, quick());
    EXPECT_EQ(seen.output, "200 MB\nwhole\n");
    EXPECT_EQ(WEXITSTATUS(seen.wait_status), 3);
  }
}

TEST(Watch, TheProgramOutlivesItsWatcher) {
  const std::string program = compiled("ends.c");
  WatchOptions options = quick();
  options.snapshot_file = scratch().file("orphan.snapshot");
  const std::string out_path = scratch().file("orphan.out");
  const std::string over = scratch().file("orphan.over");
  const pid_t watcher = fork();
  if (watcher == 0) {
    const int out = open(out_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    options.command = {program, "wait", over};
    (void)watch_program(options);
    _exit(0);
  }
  const auto wait_until = [](auto done) {
    for (int tries = 0; tries < 1200 && !done(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  };
  wait_until([&] { return read_file(out_path).value_or("") == "ready\n"; });
  kill(watcher, SIGKILL);
  waitpid(watcher, nullptr, 0);
  EXPECT_EQ(read_file(out_path).value_or(""), "ready\n");
  ASSERT_TRUE(write_file(over, ""));
  Result<WatchSnapshot> snapshot = fail({}, "none yet");
  wait_until([&] {
    const std::string bytes = read_file(options.snapshot_file).value_or("");
    snapshot = read_snapshot(std::as_bytes(std::span(bytes)), "orphan");
    return snapshot && snapshot->phase == PLUMB_WATCH_ENDED;
  });
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->phase, PLUMB_WATCH_ENDED);
}

// jemalloc's own interface knows nothing of blocks that lie elsewhere.
TEST(Watch, RefusesProgramsThatCallTheAllocatorByOtherNames) {
  const std::string library = scratch().file("libother.so");
  const std::string plain = scratch().file("plain");
  const std::string other = scratch().file("other");
  const auto build = [&](const std::string& what) {
    return std::system(fmt::format("gcc -O1 -w -fno-builtin {}", what).c_str());
  };
  const std::string source = std::string(PLUMB_TEST_DATA) + "/other_names.c";
  ASSERT_EQ(build(fmt::format("-DLIBRARY -shared -fPIC {} -o {}", source, library)), 0);
  ASSERT_EQ(build(fmt::format("{} {} -o {}", source, library, plain)), 0);
  ASSERT_EQ(build(fmt::format("-DOTHER {} {} -o {}", source, library, other)), 0);
  const Seen seen = watch({plain}, quick());
  EXPECT_EQ(WEXITSTATUS(seen.wait_status), 6);
  EXPECT_EQ(seen.output, "freed\n");
  WatchOptions options;
  options.command = {other};
  const Result<WatchOutcome> outcome = watch_program(options);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().what, HasSubstr("dallocx"));
}

// Such a library would give our blocks to glibc, which ends the program.
TEST(Watch, LibrariesThatBindDeeplyFreeBlocksOfOurs) {
  const std::string now = scratch().file("libdeep.so");
  const std::string lazy = scratch().file("liblazy.so");
  const std::string host = scratch().file("deep-host");
  const auto build = [&](const std::string& what) {
    const std::string source = std::string(PLUMB_TEST_DATA) + "/deep.c";
    return std::system(fmt::format("gcc -O1 -w -fno-builtin {} {}", source, what).c_str());
  };
  ASSERT_EQ(build(fmt::format("-DPLUGIN -shared -fPIC -Wl,-z,now,-z,relro -o {}", now)), 0);
  ASSERT_EQ(build(fmt::format("-DPLUGIN -shared -fPIC -Wl,-z,lazy -o {}", lazy)), 0);
  // The second is found by the program's own path alone.
  const std::string folder = std::filesystem::path(lazy).parent_path();
  for (const std::string& option : {std::string(), fmt::format("-Wl,-rpath,{}", folder)}) {
    ASSERT_EQ(build(fmt::format("-o {} {}", host, option)), 0);
    WatchOptions options = quick();
    options.sample = 1;
    const Seen seen = watch({host, now, option.empty() ? lazy : "liblazy.so"}, options);
    EXPECT_EQ(seen.output, "done\n");
    EXPECT_EQ(WEXITSTATUS(seen.wait_status), 6);
  }
}

TEST(Watch, RefusesWhatItCannotSample) {
  WatchOptions options;
  options.command = {compiled("../../run/testdata/own_malloc.c")};
  const Result<WatchOutcome> outcome = watch_program(options);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().what, HasSubstr("own malloc"));
}

}  // namespace
}  // namespace plumb
