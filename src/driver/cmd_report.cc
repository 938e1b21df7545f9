// plumb report: shows, converts, merges and filters saved reports.

#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "core/filter.h"
#include "core/order.h"
#include "driver/command.h"
#include "driver/filter.h"
#include "driver/input.h"
#include "driver/judge.h"
#include "driver/present.h"
#include "driver/progress.h"
#include "driver/screen.h"
#include "driver/site_questions.h"
#include "driver/stats.h"

namespace plumb {

namespace {

// One entry for each leak that is shown, equal ones once.
std::string generated_suppressions(Report& report, const Settings& settings) {
  const bool all = settings.flag(Opt::show_hidden);
  if (settings.on_command_line(Opt::limit) && settings.number(Opt::limit) > 0) {
    cut_list(report, settings.number(Opt::limit), all);
  }
  std::string text;
  std::unordered_set<std::string> written;  // leaks that differ in their lines only share one
  for (const Leak& leak : report.leaks) {
    if (leak.hidden() && !all) continue;
    const auto [entry, added] = written.insert(suppression_for(leak, report));
    if (!added) continue;
    if (!text.empty()) text += '\n';
    text += *entry;
  }
  return text;
}

// The program waits for us: it can still be asked who it is.
void describe_ended(Report& report, Settings& settings) {
  name_process(settings, report);
  const std::string process = fmt::format("/proc/{}", report.subject.pid.value_or(0));
  if (const Result<std::string> line = read_file(process + "/cmdline"); line) {
    std::string_view rest = *line;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\0');
      report.subject.command.push_back(to_utf8(rest.substr(0, end)));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
  std::error_code problem;
  report.subject.cwd = to_utf8(std::filesystem::read_symlink(process + "/cwd", problem).string());
  // Among the program's own messages, only what is lost.
  if (!settings.has(Opt::output)) {
    filter_leaks(report, [](const Leak& leak) { return leak.kind == Kind::lost; });
  }
}

Result<void> check_ids(const Settings& settings) {
  for (const std::string& id : settings.list(Opt::id)) {
    if (id.size() <= 16 && id.find_first_not_of("0123456789abcdef") == std::string::npos) continue;
    return fail({}, "--id: an id is up to 16 hexadecimal digits", "copy it from the report");
  }
  return {};
}

}  // namespace

Result<Ending> command_report(const Invocation& call) {
  Settings settings = call.settings;
  const bool ended = settings.flag(Opt::ended_program);
  const int stream = ended ? STDERR_FILENO : STDOUT_FILENO;
  if (call.words.empty()) {
    return fail({}, "no report was named", "write `plumb report FILE`, or - for standard input");
  }
  if (settings.flag(Opt::site_questions)) return answer_site_questions(call.words.front());
  if (const Result<void> good = check_ids(settings); !good) return std::unexpected(good.error());
  Stats stats;
  Result<Aids> aids = load_aids(settings);
  if (!aids) return std::unexpected(aids.error());
  Result<Report> report = [&] {
    const Progress progress(settings, "reading " + call.words.front());
    return load_reports(call.words, stale_policy(settings));
  }();
  if (!report) return std::unexpected(report.error());
  if (ended) describe_ended(*report, settings);
  stats.step("read");
  stats.count("leaks read", report->leaks.size());

  hide(*report, *aids);
  apply_filters(*report, settings);
  sort_leaks(*report, *value_of<SortKey>(settings.text(Opt::sort)));
  const Verdict verdict = judge(*report, settings);
  const bool sound = check_report(*report);
  stats.step("hide, filter and sort");
  stats.count("leaks left", report->leaks.size());

  const bool generate = settings.flag(Opt::gen_suppressions);
  const std::string text =
      generate ? generated_suppressions(*report, settings) : rendered(*report, settings, stream);
  if (const Result<void> good = deliver(settings, stream, text); !good) {
    return std::unexpected(good.error());
  }
  stats.step("write");
  for (const std::string& sentence : unused_suppressions(aids->suppressions)) {
    note(settings, sentence);
  }
  if (settings.flag(Opt::stats)) {
    stats.suppressions(aids->suppressions);
    (void)write_stream(STDERR_FILENO, stats.text());
  }
  if (!sound) return Ending{.status = kUnfinished};
  return Ending{.status = verdict.findings && !generate ? kFindings : kNothingFound};
}

}  // namespace plumb
