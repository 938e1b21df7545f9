#include "driver/program_report.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "core/order.h"
#include "driver/build_info.h"
#include "driver/filter.h"
#include "driver/present.h"
#include "driver/screen.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

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

namespace {

void prepare(Report& report, Settings& settings, Aids& aids) {
  report.tool.version = kPlumbVersion;
  name_process(settings, report);
  hide(report, aids);
  apply_filters(report, settings);
  sort_leaks(report, *value_of<SortKey>(settings.text(Opt::sort)));
}

}  // namespace

void show_so_far(Report& report, Settings settings, Aids& aids) {
  prepare(report, settings, aids);
  (void)check_report(report);
  (void)show(report, settings);
}

Ending finish_program(EndedProgram ended, Settings settings, Aids& aids, Stats& stats) {
  Report& report = ended.report;
  prepare(report, settings, aids);
  const Verdict verdict = judge(report, settings);
  bool finished = check_report(report);
  stats.step("hide, filter and sort");
  stats.count("leaks", report.leaks.size());

  const bool silent = settings.flag(Opt::quiet) && verdict.leaks == 0 &&
                      !settings.has(Opt::output) && format_in_force(settings) == Format::text;
  if (!silent) finished = show(report, settings) && finished;
  for (const std::string& sentence : unused_suppressions(aids.suppressions)) {
    note(settings, sentence);
  }
  if (settings.flag(Opt::stats)) {
    stats.suppressions(aids.suppressions);
    (void)write_stream(STDERR_FILENO, stats.text());
  }

  // A crash says more than a leak: no status of ours replaces a signal.
  if (WIFSIGNALED(ended.wait_status)) return Ending{.signal = WTERMSIG(ended.wait_status)};
  Ending ending{.status = WEXITSTATUS(ended.wait_status)};
  if (settings.has(Opt::error_exitcode)) {
    if (!finished) ending.status = kUnfinished;
    if (verdict.findings) ending.status = static_cast<int>(settings.number(Opt::error_exitcode));
  }
  return ending;
}

}  // namespace plumb
