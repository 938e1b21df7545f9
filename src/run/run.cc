#include "run/run.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/find_program.h"
#include "base/paths.h"
#include "base/text.h"
#include "core/accounting.h"
#include "core/filter.h"
#include "core/merge.h"
#include "run/again.h"
#include "run/ask.h"
#include "run/join.h"
#include "run/launch.h"
#include "run/own_limits.h"
#include "run/process_traces.h"
#include "run/program.h"
#include "run/trace_report.h"
#include "run/wants.h"
#include "trace/record_reader.h"
#include "trace/symbolise.h"

namespace plumb {

namespace {

constexpr unsigned kQuickDepth = 4;

std::string current_directory() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) != nullptr ? path : "";
}

void describe_subject(Subject& subject, const RunOptions& options, const Ended& ended) {
  subject.command = options.command;
  subject.cwd = current_directory();
  subject.pid = ended.pid;
  const std::time_t started = std::chrono::system_clock::to_time_t(ended.started);
  subject.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(started));
  subject.duration = ended.seconds;
  subject.status = status_of(ended.wait_status);
}

std::unexpected<Error> refusal(const Trace& trace, const std::string& program) {
  return fail(program,
              fmt::format("brings its own malloc ({}), which plumb run does not track",
                          trace.problem_text.empty() ? "unknown" : trace.problem_text),
              "build or run it with glibc's malloc; the program was not started");
}

// The runtime never came up, although nothing spoke against it.
Report untracked_report() {
  Report report;
  report.tool.engine = Engine::run;
  report.tool.mode = "scan";
  report.notes.push_back({"not-tracked",
                          "the program ran, but without plumb's library: nothing is known about "
                          "its memory",
                          "look for a message of the loader above; plumb doctor checks the "
                          "installation",
                          {}});
  return report;
}

void keep(const std::string& path, std::span<const std::byte> bytes, Report& report) {
  if (path.empty()) return;
  const Result<void> kept = [&]() -> Result<void> {
    const Result<std::string> compact = compact_trace(bytes, "the program's trace");
    if (!compact) return std::unexpected(compact.error());
    return write_file(path, *compact);
  }();
  if (!kept) {
    report.notes.push_back(
        {"keep-trace", fmt::format("the trace was not kept: {}", kept.error().what), "", {}});
  }
}

// What was lost, and could not be seen again.
void note_missed(const Joined& joined, Report& report) {
  const std::size_t missed = joined.missing + joined.other;
  if (missed == 0) return;
  report.notes.push_back(
      {"not-reproduced",
       fmt::format("{} of {} were not lost again in the second run: where is not known", missed,
                   count_of(joined.located + missed, "lost block")),
       "plumb run --once looks for both in one run",
       {}});
}

// Only what was allocated at one of these sites.
Trace only_at(const Sites& sites, const Trace& trace) {
  Trace selected = trace;
  Symboliser symbols(trace.modules);
  std::vector<bool> wanted;
  for (const TraceGroup& group : trace.groups) {
    wanted.push_back(sites.has(named_stack(trace.stacks[group.stack], symbols)));
  }
  const auto unwanted = [&](const TraceLost& block) { return !wanted[block.group]; };
  std::erase_if(selected.lost, unwanted);
  std::erase_if(selected.kept, unwanted);
  return selected;
}

void keep_sites(const Sites& sites, Report& report) {
  std::size_t lost = 0;
  filter_leaks(report, [&](const Leak& leak) {
    const bool kept = sites.has(leak.allocation.stack);
    lost += kept && leak.kind == Kind::lost ? 1 : 0;
    return kept;
  });
  if (lost != 0) return;
  report.notes.push_back(
      {"sites",
       fmt::format("nothing of what the report of --sites names ({}) was lost in "
                   "this run",
                   count_of(sites.count(), "site")),
       "was it made with the same program and arguments?",
       {}});
}

bool worth_another_look(const Trace& trace, bool kept) {
  return trace.phase == PLUMB_PHASE_DONE && trace.problem == PLUMB_PROBLEM_NONE &&
         (!trace.lost.empty() || (kept && !trace.kept.empty()));
}

// The report of the first run, with the places of loss when they can be had.
// `wait_status` is the program's: the second run's when it was ended at the loss.
Report report_with_places(const RunOptions& options, const Launch& launch, const Trace& found,
                          const Ended& ended, const Input& input, int& wait_status) {
  if (options.look == RunOptions::Look::once) {
    Joined joined;
    Report report = join_report(found, found, joined);
    report.tool.mode = "once";
    return report;
  }
  const Trace selected = options.sites ? only_at(*options.sites, found) : Trace{};
  const Trace& wanted = options.sites ? selected : found;
  if (options.look == RunOptions::Look::scan_only ||
      !worth_another_look(wanted, options.last_use)) {
    return report_from(found);
  }
  Result<Trace> watched = [&]() -> Result<Trace> {
    if (ended.from_outside) {
      return fail({}, "the program was sent a signal, which a second run would not get",
                  "plumb run --once does both in one run");
    }
    if (options.before_again) options.before_again();
    int second = 0;
    Result<Trace> trace =
        look_again(launch, wanted, options.last_use, input, ended.seconds, second);
    if (options.on_leak == "abort" && WIFSIGNALED(second) && WTERMSIG(second) == SIGABRT) {
      wait_status = second;
    }
    return trace;
  }();
  if (!watched) {
    Report report = report_from(found);
    report.notes.push_back(
        {"no-place",
         fmt::format("where it was lost is not known: {}{}",
                     watched.error().where.empty() ? "" : watched.error().where + ": ",
                     watched.error().what),
         watched.error().hint,
         {}});
    return report;
  }
  Joined joined;
  Report report = join_report(found, *watched, joined);
  report.tool.mode = "again";
  if (!options.sites) note_missed(joined, report);  // the others were not watched
  return report;
}

void finish(const RunOptions& options, const Ended& ended, Report& report) {
  describe_subject(report.subject, options, ended);
  if (options.sites) keep_sites(*options.sites, report);
  if (!options.forgotten) {
    filter_leaks(report, [](const Leak& leak) { return leak.kind != Kind::forgotten; });
  }
  PLUMB_CHECK(check_totals(report));
}

// While the program runs.
void report_so_far(const RunOptions& options, pid_t pid, const Trace& trace) {
  Report report = report_from(trace);
  report.tool.mode = "so far";
  Ended so_far;
  so_far.pid = pid;
  so_far.started = std::chrono::system_clock::now();
  finish(options, so_far, report);
  report.subject.started.clear();
  report.subject.status.reset();
  options.on_report(report);
}

Result<RunOutcome> run_and_follow(const RunOptions& options, Launch first, const Launch& second) {
  const Result<TraceFolder> folder = TraceFolder::create();
  if (!folder) return std::unexpected(folder.error());
  first.settings =
      fmt::format("dir={}:depth={}:quick={}:scrub={}:mask={}", folder->path(), first.stack_depth,
                  first.quick_stacks ? 1 : 0, first.scrub ? 1 : 0, first.pointer_mask);
  Input input;
  const Result<Ended> ended = launch_and_wait(first);
  if (!ended) return std::unexpected(ended.error());
  input.note_end();
  RunOutcome outcome;
  outcome.wait_status = ended->wait_status;
  std::size_t unreadable = 0;
  for (const Trace& trace : folder->traces(ended->pid, unreadable)) {
    const bool is_first =
        outcome.processes.empty() && trace.pid == static_cast<std::uint32_t>(ended->pid);
    if (is_first && trace.phase == PLUMB_PHASE_REFUSED) return refusal(trace, first.program);
    Report report =
        is_first ? report_with_places(options, second, trace, *ended, input, outcome.wait_status)
                 : report_from(trace);
    finish(options, *ended, report);
    if (!is_first) {
      report.subject.pid = trace.pid;
      report.subject.command = {trace.command};
      report.subject.duration.reset();
      report.subject.status.reset();
    }
    // One process may be several programs, one after the other.
    const auto known = std::ranges::find(outcome.processes, report.subject.pid,
                                         [](const Report& other) { return other.subject.pid; });
    if (known == outcome.processes.end()) {
      outcome.processes.push_back(std::move(report));
    } else {
      *known = merge_reports({std::move(*known), std::move(report)});
    }
  }
  if (outcome.processes.empty()) outcome.processes.push_back(untracked_report());
  outcome.report = merge_reports(outcome.processes);
  describe_subject(outcome.report.subject, options, *ended);
  if (unreadable != 0) {
    outcome.report.notes.push_back(
        {"not-tracked",
         fmt::format("{} left no readable trace", count_of(unreadable, "process")),
         "",
         {}});
  }
  PLUMB_CHECK(check_totals(outcome.report));
  return outcome;
}

Result<RunOutcome> run_here(const RunOptions& options) {
  const Result<std::string> program = find_program(options.command.front());
  if (!program) return std::unexpected(program.error());
  if (Result<void> good = check_program(*program); !good) return std::unexpected(good.error());
  const Result<std::string> runtime = preload_library("libplumb_preload.so");
  if (!runtime) return std::unexpected(runtime.error());
  Result<TraceMemory> memory = TraceMemory::create();
  if (!memory) return std::unexpected(memory.error());

  Launch launch;
  launch.program = *program;
  launch.command = options.command;
  launch.runtime = *runtime;
  // A site is recognised by its whole stack.
  launch.quick_stacks = options.quick_stacks && !options.sites;
  launch.stack_depth = launch.quick_stacks ? kQuickDepth : options.stack_depth;
  launch.scrub = options.scrub;
  launch.pointer_mask = options.pointer_mask;
  launch.on_leak = options.on_leak;
  launch.leak_threshold = options.leak_threshold;
  Launch first = launch;
  std::optional<DropList> drops;
  if (options.drop.percent != 0) {
    for (Launch* each : {&first, &launch}) {
      Result<DropList> list = DropList::create();
      if (!list) return std::unexpected(list.error());
      if (const Result<void> good = list->prepare(options.drop, *each); !good) {
        return std::unexpected(good.error());
      }
      // The second run's list says the same.
      if (each == &first) drops.emplace(std::move(*list));
    }
  }
  for (const CustomFunction& function : options.custom) {
    const std::string setting = ":" + setting_for(function, *program);
    first.more_settings += setting;
    launch.more_settings += setting;
  }
  if (options.follow) return run_and_follow(options, std::move(first), launch);
  // Two may want one at once.
  std::mutex reporting;
  const auto tell = [&](pid_t pid, const Trace& trace) {
    const std::lock_guard lock(reporting);
    report_so_far(options, pid, trace);
  };
  std::optional<ReportWishes> wishes;
  if (options.on_report && options.look != RunOptions::Look::once) {
    if (options.report_every) {
      first.look = [&](pid_t pid) {
        // What cannot be had is left out: there will be another one.
        if (const Result<Trace> trace = ask_program(pid, *memory)) tell(pid, *trace);
      };
      first.look_every = *options.report_every;
    }
    wishes.emplace(*memory,
                   [&](const Trace& trace) { tell(static_cast<pid_t>(trace.pid), trace); });
    first.on_start = [&](pid_t) { wishes->start(); };
    first.on_end = [&] { wishes->stop(); };
  }
  std::optional<TraceMemory> wants;
  if (options.look == RunOptions::Look::once) {
    const Result<std::string> tool = valgrind_tool();
    if (!tool) return std::unexpected(tool.error());
    Result<TraceMemory> list = TraceMemory::with(want_all());
    if (!list) return std::unexpected(list.error());
    wants = std::move(*list);
    first.tool_folder = *tool;
    first.wants = wants->fd();
    first.stack_depth = 1;
    first.uses = options.last_use;  // of all blocks: that takes long
  }
  Input input;
  const Result<Ended> ended = launch_and_wait(first, *memory);
  if (!ended) return std::unexpected(ended.error());
  // The program has run. From here on, what goes wrong is a note.
  input.note_end();

  RunOutcome outcome;
  outcome.wait_status = ended->wait_status;
  const Result<std::span<const std::byte>> bytes = memory->bytes();
  if (!bytes) return std::unexpected(bytes.error());
  if (!is_attached(*bytes)) {
    outcome.report = untracked_report();
  } else {
    const Result<Trace> trace = read_trace(*bytes, "the program's trace");
    if (!trace) {
      outcome.report = untracked_report();
      outcome.report.notes.push_back(
          {"trace", fmt::format("the trace cannot be read: {}", trace.error().what), "", {}});
    } else if (trace->phase == PLUMB_PHASE_REFUSED) {
      return refusal(*trace, *program);
    } else {
      outcome.report =
          report_with_places(options, launch, *trace, *ended, input, outcome.wait_status);
      if (drops) note_dropped(options.drop, drops->blocks(), *trace, outcome.report);
    }
    keep(options.keep_trace, *bytes, outcome.report);
  }
  finish(options, *ended, outcome.report);
  return outcome;
}

struct Work {
  const RunOptions* options;
  std::optional<Result<RunOutcome>> outcome;
};

}  // namespace

Result<RunOutcome> run_program(const RunOptions& options) {
  PLUMB_CHECK(!options.command.empty());
  const OwnLimits limits;
  if (!OwnLimits::is_stack_small()) return run_here(options);
  constexpr std::size_t kStack = std::size_t{16} << 20;
  Work work{&options, {}};
  pthread_attr_t attributes;
  pthread_t thread{};
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  const int problem = pthread_create(
      &thread, &attributes,
      [](void* given) -> void* {
        Work& mine = *static_cast<Work*>(given);
        mine.outcome = run_here(*mine.options);
        return nullptr;
      },
      &work);
  pthread_attr_destroy(&attributes);
  if (problem != 0) return run_here(options);
  pthread_join(thread, nullptr);
  return *std::move(work.outcome);
}

Result<Report> report_of_trace(const std::string& path) {
  const Result<std::string> content = read_file(path);
  if (!content) return std::unexpected(content.error());
  const Result<Trace> trace = read_trace(std::as_bytes(std::span(*content)), path);
  if (!trace) return std::unexpected(trace.error());
  return report_from(*trace);
}

}  // namespace plumb
