// plumb run: runs a program and reports what it leaked.
//
// Everything that can be wrong with our own work is found before the program
// starts, or said after it ended; in between nothing of plumb is seen.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/order.h"
#include "driver/build_info.h"
#include "driver/command.h"
#include "driver/filter.h"
#include "driver/judge.h"
#include "driver/present.h"
#include "driver/progress.h"
#include "driver/screen.h"
#include "driver/stats.h"
#include "report/text_cells.h"
#include "run/run.h"

namespace plumb {

namespace {

// A run may take hours: a report that cannot be written is known before it.
Result<void> check_output(const Settings& settings, Opt opt) {
  const std::string path = settings.text(opt);
  if (path.empty() || path == "-") return {};
  std::error_code problem;
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  const std::string folder = directory.empty() ? "." : directory.string();
  if (!std::filesystem::is_directory(folder, problem)) {
    return fail(printable(path),
                fmt::format("cannot write: there is no directory {}", printable(folder)),
                "the program was not started");
  }
  if (std::filesystem::is_directory(path, problem)) {
    return fail(printable(path), "cannot write: it is a directory", "the program was not started");
  }
  const bool special =
      std::filesystem::exists(path, problem) && !std::filesystem::is_regular_file(path, problem);
  if (access(special ? path.c_str() : folder.c_str(), W_OK) != 0) {
    return fail(printable(path), "cannot write: no permission", "the program was not started");
  }
  return {};
}

// The report to where it belongs; to standard error as text when that fails.
bool show(Report& report, const Settings& settings) {
  const std::string text = rendered(report, settings, STDERR_FILENO);
  const Result<void> good = deliver(settings, STDERR_FILENO, text);
  if (good) return true;
  (void)write_stream(STDERR_FILENO, good.error().message());
  if (settings.has(Opt::output)) {
    (void)write_stream(STDERR_FILENO, render(report, Format::text, {}));
  }
  return false;
}

}  // namespace

Result<Ending> command_run(const Invocation& call) {
  Settings settings = call.settings;
  if (call.words.empty()) {
    return fail({}, "no program was named", "write `plumb run PROGRAM ARGS`");
  }
  Result<Aids> aids = load_aids(settings);
  if (!aids) return std::unexpected(aids.error());
  for (const Opt opt : {Opt::output, Opt::keep_trace}) {
    if (const Result<void> good = check_output(settings, opt); !good) {
      return std::unexpected(good.error());
    }
  }

  RunOptions options;
  options.command = call.words;
  options.stack_depth = static_cast<unsigned>(settings.number(Opt::stacks));
  options.forgotten = !settings.flag(Opt::no_forgotten);
  options.keep_trace = settings.text(Opt::keep_trace);
  if (settings.flag(Opt::once)) {
    options.look = RunOptions::Look::once;
  } else if (settings.flag(Opt::no_rerun)) {
    options.look = RunOptions::Look::scan_only;
  }
  std::optional<Progress> progress;
  options.before_again = [&] {
    progress.emplace(settings, "running it again to see where memory was lost");
  };
  Stats stats;
  Result<RunOutcome> outcome = run_program(options);
  progress.reset();
  if (!outcome) return std::unexpected(outcome.error());
  // From here on the program's status is what counts: a reader of standard
  // error that went away must not replace it.
  std::signal(SIGPIPE, SIG_IGN);
  stats.step("program and analysis");

  Report& report = outcome->report;
  report.tool.version = kPlumbVersion;
  name_process(settings, report);
  hide(report, *aids);
  apply_filters(report, settings);
  sort_leaks(report, *value_of<SortKey>(settings.text(Opt::sort)));
  const Verdict verdict = judge(report, settings);
  bool finished = check_report(report);
  stats.step("hide, filter and sort");
  stats.count("leaks", report.leaks.size());

  const bool silent = settings.flag(Opt::quiet) && verdict.leaks == 0 &&
                      !settings.has(Opt::output) && format_in_force(settings) == Format::text;
  if (!silent) finished = show(report, settings) && finished;
  for (const std::string& sentence : unused_suppressions(aids->suppressions)) {
    note(settings, sentence);
  }
  if (settings.flag(Opt::stats)) {
    stats.suppressions(aids->suppressions);
    (void)write_stream(STDERR_FILENO, stats.text());
  }

  // A crash says more than a leak: no status of ours replaces a signal.
  if (WIFSIGNALED(outcome->wait_status)) return Ending{.signal = WTERMSIG(outcome->wait_status)};
  Ending ending{.status = WEXITSTATUS(outcome->wait_status)};
  if (settings.has(Opt::error_exitcode)) {
    if (!finished) ending.status = kUnfinished;
    if (verdict.findings) ending.status = static_cast<int>(settings.number(Opt::error_exitcode));
  }
  return ending;
}

}  // namespace plumb
