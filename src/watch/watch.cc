#include "watch/watch.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/find_program.h"
#include "base/paths.h"
#include "core/accounting.h"
#include "run/launch.h"
#include "run/program.h"
#include "watch/family.h"
#include "watch/places.h"
#include "watch/snapshot.h"
#include "watch/watch_report.h"

namespace plumb {

namespace {

// ':' ends a setting, and '%' is ours.
std::string escaped(std::string_view path, bool keep_process) {
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '%' && i + 1 < path.size() && path[i + 1] == 'p' && keep_process) {
      text += "%p";
      ++i;
    } else if (path[i] == ':' || path[i] == '%') {
      text += fmt::format("%{:02x}", static_cast<unsigned char>(path[i]));
    } else {
      text += path[i];
    }
  }
  return text;
}

std::uint64_t milliseconds(double seconds) {
  return static_cast<std::uint64_t>(std::llround(std::max(seconds * 1000, 1.0)));
}

Report unwatched_report(std::string why) {
  Report report;
  report.tool.engine = Engine::watch;
  report.tool.mode = "sampled";
  report.notes.push_back({"not-watched",
                          std::move(why),
                          "did the program replace itself (exec), or end at once?",
                          {}});
  return report;
}

Report last_report(const std::string& path, const WatchOptions& options, const std::string& program,
                   Result<void>& refused) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return unwatched_report("the program ran, but left no snapshot");
  const Result<WatchSnapshot> snapshot = read_snapshot(std::as_bytes(std::span(*bytes)), path);
  if (!snapshot) {
    return unwatched_report(
        fmt::format("the last snapshot cannot be read: {}", snapshot.error().what));
  }
  if (snapshot->phase == PLUMB_WATCH_REFUSED) {
    refused = fail(program,
                   fmt::format("brings its own malloc ({}), which plumb watch cannot sample",
                               snapshot->problem.empty() ? "unknown" : snapshot->problem),
                   "build or run it without; the program was not started");
    return {};
  }
  if (snapshot->phase == PLUMB_WATCH_OTHER) {
    refused = fail(program,
                   fmt::format("frees or resizes blocks by {}, which plumb watch cannot follow",
                               snapshot->problem),
                   "use free and realloc, or another allocator; the program was not started");
    return {};
  }
  if (snapshot->phase == PLUMB_WATCH_NO_ROOM) {
    Report report = unwatched_report("the program's address space is limited too far to watch it");
    report.notes.back().remedy = "raise the limits (ulimit -v, ulimit -d) to 1 GB at least";
    return report;
  }
  Report report = report_from(*snapshot, options.policy);
  if (snapshot->phase != PLUMB_WATCH_ENDED) {
    report.notes.push_back(
        {"last-snapshot",
         fmt::format("the program ended without notice: this is its last snapshot, {:.1f} s after "
                     "its start",
                     snapshot->elapsed),
         "",
         {}});
  }
  return report;
}

}  // namespace

Result<Report> report_of_snapshot(std::string_view bytes, const std::string& name,
                                  const StalePolicy& policy) {
  const Result<WatchSnapshot> snapshot = read_snapshot(std::as_bytes(std::span(bytes)), name);
  if (!snapshot) return std::unexpected(snapshot.error());
  return report_from(*snapshot, policy);
}

Result<WatchOutcome> watch_program(const WatchOptions& options) {
  PLUMB_CHECK(!options.command.empty());
  const Result<std::string> program = find_program(options.command.front());
  if (!program) return std::unexpected(program.error());
  if (Result<void> good = check_program(*program); !good) return std::unexpected(good.error());
  const Result<std::string> runtime = preload_library("libplumb_watch.so");
  if (!runtime) return std::unexpected(runtime.error());
  const Result<std::string> folder = watch_folder();
  if (!folder) return std::unexpected(folder.error());

  // The program's directory may change; the runtime needs whole paths.
  // Each run that follows children has a folder of its own: whose they are is known.
  std::string own_folder;
  if (options.follow && options.snapshot_file.empty()) {
    std::string pattern = *folder + "/run-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
      return fail(*folder, fmt::format("cannot be written to: {}", std::strerror(errno)));
    }
    own_folder = pattern;
  }
  std::string file = !options.snapshot_file.empty() ? options.snapshot_file
                     : own_folder.empty()           ? *folder + "/%p.snapshot"
                                                    : own_folder + "/%p.snapshot";
  if (options.follow && file.find("%p") == std::string::npos) file += ".%p";
  if (!file.starts_with('/')) {
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) != nullptr) file = fmt::format("{}/{}", here, file);
  }
  Launch launch;
  launch.program = *program;
  launch.command = options.command;
  launch.runtime = *runtime;
  launch.settings = fmt::format(
      "watch:epoch={}:interval={}:sample={}:search={}:depth={}:follow={}:launcher={}:socket={}:"
      "file={}",
      milliseconds(options.epoch), milliseconds(options.interval), options.sample, options.search,
      options.stack_depth, options.follow ? 1 : 0, getpid(), escaped(*folder, false) + "/%p.socket",
      escaped(file, true));
  if (options.on_start) {
    launch.on_start = [&](pid_t pid) { options.on_start(static_cast<std::uint64_t>(pid)); };
  }
  launch.on_end = options.on_end;
  const Result<Ended> ended = launch_and_wait(launch);
  if (!ended) return std::unexpected(ended.error());
  // The program has run. From here on, what goes wrong is a note.

  const std::string pid = fmt::format("{}", ended->pid);
  std::string path = file;
  for (std::size_t at = 0; (at = path.find("%p", at)) != std::string::npos; at += pid.size()) {
    path.replace(at, 2, pid);
  }
  WatchOutcome outcome;
  outcome.wait_status = ended->wait_status;
  outcome.from_outside = ended->from_outside;
  Result<void> refused;
  outcome.report = last_report(path, options, *program, refused);
  unlink(fmt::format("{}/{}.socket", *folder, pid).c_str());
  if (options.follow) {
    const std::vector<FamilyMember> family =
        family_of(file, static_cast<std::uint64_t>(ended->pid));
    outcome.report = with_family(std::move(outcome.report), family, options.policy);
    for (const FamilyMember& member : family) {
      if (is_running(member.pid)) continue;
      unlink(fmt::format("{}/{}.socket", *folder, member.pid).c_str());
      if (options.snapshot_file.empty()) unlink(member.path.c_str());
    }
  }
  if (options.snapshot_file.empty()) unlink(path.c_str());
  if (!own_folder.empty()) rmdir(own_folder.c_str());  // stays while children write to it
  if (!refused) return std::unexpected(refused.error());

  Subject& subject = outcome.report.subject;
  subject.command = options.command;
  subject.pid = ended->pid;
  char here[PATH_MAX];
  if (getcwd(here, sizeof here) != nullptr) subject.cwd = here;
  const std::time_t started = std::chrono::system_clock::to_time_t(ended->started);
  subject.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(started));
  subject.duration = ended->seconds;
  subject.status = status_of(ended->wait_status);
  PLUMB_CHECK(check_totals(outcome.report));
  return outcome;
}

}  // namespace plumb
