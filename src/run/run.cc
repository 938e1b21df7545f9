#include "run/run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/paths.h"
#include "core/accounting.h"
#include "core/filter.h"
#include "run/launch.h"
#include "run/program.h"
#include "run/trace_report.h"
#include "trace/record_reader.h"

namespace plumb {

namespace {

Result<std::string> runtime_library() {
  Result<std::string> path = support_file("libplumb_preload.so");
  if (path && path->find_first_of(" :") != std::string::npos) {
    return fail(*path, "the loader cannot preload a library whose path has a space or a colon",
                "install plumb elsewhere");
  }
  return path;
}

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
  Status status;
  if (WIFEXITED(ended.wait_status)) status.code = WEXITSTATUS(ended.wait_status);
  if (WIFSIGNALED(ended.wait_status)) status.signal = WTERMSIG(ended.wait_status);
  subject.status = status;
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

}  // namespace

Result<RunOutcome> run_program(const RunOptions& options) {
  PLUMB_CHECK(!options.command.empty());
  const Result<std::string> program = find_program(options.command.front());
  if (!program) return std::unexpected(program.error());
  if (Result<void> good = check_program(*program); !good) return std::unexpected(good.error());
  const Result<std::string> runtime = runtime_library();
  if (!runtime) return std::unexpected(runtime.error());
  Result<TraceMemory> memory = TraceMemory::create();
  if (!memory) return std::unexpected(memory.error());

  const Result<Ended> ended = launch_and_wait(
      {*program, options.command, *runtime, options.stack_depth, options.scrub}, *memory);
  if (!ended) return std::unexpected(ended.error());
  // The program has run. From here on, what goes wrong is a note.

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
      outcome.report = report_from(*trace);
    }
    if (!options.keep_trace.empty()) {
      Result<void> kept = [&]() -> Result<void> {
        const Result<std::string> compact = compact_trace(*bytes, "the program's trace");
        if (!compact) return std::unexpected(compact.error());
        return write_file(options.keep_trace, *compact);
      }();
      if (!kept) {
        outcome.report.notes.push_back(
            {"keep-trace", fmt::format("the trace was not kept: {}", kept.error().what), "", {}});
      }
    }
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
