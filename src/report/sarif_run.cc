#include "report/sarif_run.h"

#include <chrono>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "report/explain.h"
#include "report/sarif_words.h"
#include "report/text_cells.h"

namespace plumb {
namespace {

// "leak/lost/scope-end" -> "LeakLostScopeEnd".
std::string rule_name(std::string_view id) {
  std::string name;
  bool start = true;
  for (const char c : id) {
    if (c == '/' || c == '-') {
      start = true;
      continue;
    }
    name += start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    start = false;
  }
  return name;
}

// How often such a finding is right, in GitHub's words.
std::string_view precision(Kind kind, Engine engine) {
  if (kind == Kind::stale) return "medium";
  return engine == Engine::check ? "high" : "very-high";
}

std::string_view problem_severity(SarifLevel level) {
  return level == SarifLevel::note ? "recommendation" : name_of(level);
}

SarifJson rule(Kind kind, const std::string& id, Engine engine) {
  const std::optional<Explanation> page = explain(id);
  PLUMB_CHECK(page.has_value());
  const SarifLevel level = sarif_level(kind);
  return {{"id", id},
          {"name", rule_name(id)},
          {"shortDescription", sarif_message(fmt::format("{}.", page->title))},
          {"fullDescription", sarif_message(trim(plain_text(page->summary)))},
          {"help", {{"text", plain_text(page->markdown)}, {"markdown", page->markdown}}},
          {"defaultConfiguration", {{"level", name_of(level)}}},
          {"properties",
           {{"precision", precision(kind, engine)},
            {"problem.severity", problem_severity(level)},
            {"tags", {"correctness", "memory", "external/cwe/cwe-401"}}}}};
}

std::optional<int> digits(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// "2025-01-31T23:59:59Z", with or without a fraction: all that readers take.
bool is_utc_time(std::string_view text) {
  if (text.size() < 20 || text.size() > 30 || !text.ends_with('Z')) return false;
  if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':') {
    return false;
  }
  const std::string_view fraction = text.substr(19, text.size() - 20);
  if (!fraction.empty() && (fraction.size() < 2 || fraction[0] != '.' ||
                            !digits(fraction.substr(1, 7)) || !digits(fraction.substr(1)))) {
    return false;
  }
  const auto part = [&](std::size_t at, std::size_t size) { return digits(text.substr(at, size)); };
  const auto year = part(0, 4), month = part(5, 2), day = part(8, 2);
  const auto hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return false;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  return *year > 0 && date.ok() && *hour < 24 && *minute < 60 && *second < 60;
}

std::string shell_quoted(std::string_view argument) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(argument);
  }
  std::string quoted = "'";
  for (const char c : argument) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

SarifJson notification(std::string_view level, std::string_view code, const std::string& text) {
  return {{"descriptor", {{"id", printable(code)}}},
          {"level", level},
          {"message", sarif_message(text)}};
}

SarifJson notifications(const Report& report) {
  SarifJson list = SarifJson::array();
  if (const std::size_t count = report.leaks.size(); count > kGithubShownResults) {
    std::string text = fmt::format("{} results: GitHub code scanning shows the first {}",
                                   with_commas(count), with_commas(kGithubShownResults));
    if (count > kGithubMostResults) {
      text += fmt::format(" and takes no file with more than {}", with_commas(kGithubMostResults));
    }
    list.push_back(
        notification("warning", "many-results", text + ". '--min-size' leaves small ones out."));
  }
  for (const Note& note : report.notes) {
    std::string text = sarif_sentence(note.text);
    if (std::string remedy = sarif_sentence(note.remedy); !remedy.empty()) text += " " + remedy;
    list.push_back(notification("note", note.code.empty() ? "note" : note.code, text));
  }
  return list;
}

SarifJson count_json(const Count& count) {
  return {{"blocks", count.blocks}, {"bytes", count.bytes}};
}

void add_status(SarifJson& invocation, const Status& status) {
  if (status.code) invocation["exitCode"] = *status.code;
  if (!status.signal) return;
  invocation["exitSignalNumber"] = *status.signal;
  if (const char* name = sigabbrev_np(*status.signal); name != nullptr) {
    invocation["exitSignalName"] = fmt::format("SIG{}", name);
  }
}

}  // namespace

SarifRules sarif_rules(const Report& report) {
  std::set<std::string> used;
  for (const Leak& leak : report.leaks) used.insert(rule_id(leak));
  SarifRules rules;
  const auto add = [&](Kind kind, const std::string& id) {
    if (!used.contains(id)) return;
    rules.index[id] = rules.list.size();
    rules.list.push_back(rule(kind, id, report.tool.engine));
  };
  for (const auto& [kind, kind_name] : kNames<Kind>) {
    add(kind, rule_id(kind));
    if (kind != Kind::lost) continue;
    for (const auto& [cause, cause_name] : kNames<Cause>) add(kind, rule_id(kind, cause));
  }
  return rules;
}

SarifJson sarif_tool(const Report& report, const SarifRules& rules) {
  const Tool& tool = report.tool;
  SarifJson driver = {{"name", tool.name.empty() ? "plumb" : printable(tool.name)}};
  if (!tool.version.empty()) {
    driver["fullName"] = printable(tool.name + " " + tool.version);
    if (digits(tool.version.substr(0, 1))) driver["version"] = printable(tool.version);
  }
  driver["rules"] = rules.list;
  return {{"driver", std::move(driver)}};
}

SarifJson sarif_invocation(const Report& report, const SarifPlaces& places) {
  const Subject& subject = report.subject;
  SarifJson invocation = {{"executionSuccessful", true}};
  if (!subject.command.empty()) {
    std::string line;
    SarifJson arguments = SarifJson::array();
    for (std::size_t i = 0; i < subject.command.size(); ++i) {
      line += (i == 0 ? "" : " ") + printable(shell_quoted(subject.command[i]));
      if (i > 0) arguments.push_back(printable(subject.command[i]));
    }
    invocation["commandLine"] = line;
    invocation["arguments"] = std::move(arguments);
  }
  if (SarifJson directory = places.directory(subject.cwd); !directory.is_null()) {
    invocation["workingDirectory"] = std::move(directory);
  }
  if (is_utc_time(subject.started)) invocation["startTimeUtc"] = subject.started;
  if (subject.status) add_status(invocation, *subject.status);
  if (subject.pid && *subject.pid >= 0 && *subject.pid <= std::numeric_limits<int>::max()) {
    invocation["processId"] = *subject.pid;
  }
  if (!subject.host.empty()) invocation["machine"] = printable(subject.host);
  if (SarifJson list = notifications(report); !list.empty()) {
    invocation["toolExecutionNotifications"] = std::move(list);
  }
  return invocation;
}

SarifJson sarif_run_properties(const Report& report) {
  const Totals& totals = report.totals;
  SarifJson bag = {{"engine", name_of(report.tool.engine)}};
  if (!report.tool.mode.empty()) bag["mode"] = printable(report.tool.mode);
  bag["totals"] = {
      {"allocated", count_json(totals.allocated)}, {"freed", count_json(totals.freed)},
      {"lost", count_json(totals.lost)},           {"stale", count_json(totals.stale)},
      {"forgotten", count_json(totals.forgotten)}, {"excluded", count_json(totals.excluded)},
      {"suppressed", totals.suppressed},           {"known", totals.known}};
  return bag;
}

}  // namespace plumb
