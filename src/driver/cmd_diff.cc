// plumb diff: what changed between two reports.

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "driver/changes.h"
#include "driver/command.h"
#include "driver/input.h"
#include "driver/judge.h"
#include "driver/progress.h"
#include "driver/screen.h"
#include "driver/stats.h"

namespace plumb {

namespace {

// Leaks that a filter took out of a list look new or gone to us.
void note_omissions(const Settings& settings, const std::string& file, const Report& report) {
  const Totals& totals = report.totals;
  if (totals.omitted_lost || totals.omitted_stale || totals.omitted_forgotten) {
    note(settings,
         fmt::format("{} was filtered: what it leaves out looks as if it were not there", file));
  }
}

bool has_findings(const Changes& changes, const Settings& settings) {
  const std::vector<std::string> kinds = settings.list(Opt::fail_on);
  std::uint64_t leaks = 0;
  std::uint64_t bytes = 0;
  for (const ChangedLeak& entry : changes.leaks) {
    const bool worse = entry.change == Change::added || entry.change == Change::grown;
    if (!worse || !has_kind(*entry.leak, kinds)) continue;
    leaks += 1;
    bytes += entry.difference();
  }
  return above_budget(leaks, bytes, settings.size(Opt::budget));
}

}  // namespace

Result<Ending> command_diff(const Invocation& call) {
  const Settings& settings = call.settings;
  if (call.words.size() != 2) {
    return fail(
        {},
        fmt::format("two reports are compared, {} named",
                    call.words.empty() ? std::string("none was")
                                       : fmt::format("{} {}", call.words.size(),
                                                     call.words.size() == 1 ? "was" : "were")),
        "write `plumb diff OLD NEW`");
  }
  if (std::ranges::count(call.words, "-") > 1) {
    return fail({}, "standard input is named twice", "give - once");
  }
  Stats stats;
  Result<Aids> aids = load_aids(settings);
  if (!aids) return std::unexpected(aids.error());
  std::vector<Report> reports;
  for (const std::string& path : call.words) {
    const Progress progress(settings, "reading " + path);
    Result<Report> report = load_report(path);
    if (!report) return std::unexpected(report.error());
    reports.push_back(std::move(*report));
  }
  stats.step("read");
  for (std::size_t i = 0; i < reports.size(); ++i) {
    hide(reports[i], *aids);
    note_omissions(settings, call.words[i], reports[i]);
  }
  const Changes changes = changes_between(reports[0], reports[1], settings.size(Opt::min_size));
  stats.step("compare");

  const bool json = settings.text(Opt::plain_format) == "json";
  const bool to_file = settings.has(Opt::output) && settings.text(Opt::output) != "-";
  const Screen screen = screen_of(to_file ? -1 : STDOUT_FILENO, settings.text(Opt::color));
  const std::string text =
      json ? changes_as_json(changes, reports[0], reports[1], call.words, settings)
           : changes_as_text(changes, reports[0], reports[1], settings, screen.color);
  if (const Result<void> good = deliver(settings, STDOUT_FILENO, text); !good) {
    return std::unexpected(good.error());
  }
  if (settings.flag(Opt::stats)) {
    stats.suppressions(aids->suppressions);
    (void)write_stream(STDERR_FILENO, stats.text());
  }
  return Ending{.status = has_findings(changes, settings) ? kFindings : kNothingFound};
}

}  // namespace plumb
