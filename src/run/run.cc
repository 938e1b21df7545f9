#include "run/run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
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
#include "run/again.h"
#include "run/join.h"
#include "run/launch.h"
#include "run/program.h"
#include "run/trace_report.h"
#include "run/wants.h"
#include "trace/record_reader.h"

namespace plumb {

namespace {

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

bool is_attached(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof(PlumbTraceHeader) &&
         std::memcmp(bytes.data(), PLUMB_TRACE_MAGIC, 8) == 0;
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

bool worth_another_look(const Trace& trace, bool kept) {
  return trace.phase == PLUMB_PHASE_DONE && trace.problem == PLUMB_PROBLEM_NONE &&
         (!trace.lost.empty() || (kept && !trace.kept.empty()));
}

// The report of the first run, with the places of loss when they can be had.
Report report_with_places(const RunOptions& options, const Launch& launch, const Trace& found,
                          const Ended& ended, const Input& input) {
  if (options.look == RunOptions::Look::once) {
    Joined joined;
    Report report = join_report(found, found, joined);
    report.tool.mode = "once";
    return report;
  }
  if (options.look == RunOptions::Look::scan_only || !worth_another_look(found, options.last_use)) {
    return report_from(found);
  }
  Result<Trace> watched = [&]() -> Result<Trace> {
    if (ended.from_outside) {
      return fail({}, "the program was sent a signal, which a second run would not get",
                  "plumb run --once does both in one run");
    }
    if (options.before_again) options.before_again();
    return look_again(launch, found, options.last_use, input, ended.seconds);
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
  note_missed(joined, report);
  return report;
}

}  // namespace

Result<RunOutcome> run_program(const RunOptions& options) {
  PLUMB_CHECK(!options.command.empty());
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
  launch.stack_depth = options.stack_depth;
  launch.scrub = options.scrub;
  Launch first = launch;
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
      outcome.report = report_with_places(options, launch, *trace, *ended, input);
    }
    keep(options.keep_trace, *bytes, outcome.report);
  }
  describe_subject(outcome.report.subject, options, *ended);
  if (!options.forgotten) {
    filter_leaks(outcome.report, [](const Leak& leak) { return leak.kind != Kind::forgotten; });
  }
  PLUMB_CHECK(check_totals(outcome.report));
  return outcome;
}

Result<Report> report_of_trace(const std::string& path) {
  const Result<std::string> content = read_file(path);
  if (!content) return std::unexpected(content.error());
  const Result<Trace> trace = read_trace(std::as_bytes(std::span(*content)), path);
  if (!trace) return std::unexpected(trace.error());
  return report_from(*trace);
}

}  // namespace plumb
