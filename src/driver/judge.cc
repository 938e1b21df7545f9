#include "driver/judge.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/file.h"
#include "core/accounting.h"
#include "core/baseline.h"
#include "driver/input.h"

namespace plumb {

namespace {

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))); }

}  // namespace

Result<Aids> load_aids(const Settings& settings) {
  Aids aids;
  for (const std::string& path : settings.list(Opt::suppressions)) {
    Result<std::string> text = read_file(path);
    if (!text) return std::unexpected(text.error());
    Result<std::vector<Suppression>> entries = parse_suppressions(*text, path);
    if (!entries) return std::unexpected(entries.error());
    std::ranges::move(*entries, std::back_inserter(aids.suppressions));
  }
  // diff has no baseline: its first report is one.
  if (settings.command() == Command::diff || !settings.has(Opt::baseline)) return aids;
  Result<Report> baseline = load_report(settings.text(Opt::baseline));
  if (!baseline) return std::unexpected(baseline.error());
  aids.baseline = std::move(*baseline);
  return aids;
}

void hide(Report& report, Aids& aids) {
  if (!aids.suppressions.empty()) apply_suppressions(report, aids.suppressions, today());
  if (aids.baseline) apply_baseline(report, *aids.baseline);
  recount_hidden(report);
}

std::vector<std::string> unused_suppressions(const std::vector<Suppression>& entries) {
  std::vector<std::string> sentences;
  for (const Suppression& entry : entries) {
    const std::string name = entry.name.empty() ? std::string{} : fmt::format(" '{}'", entry.name);
    if (entry.expired) {
      sentences.push_back(
          fmt::format("{}: the suppression{} expired on {}", entry.origin, name, entry.expires));
    } else if (entry.used_leaks == 0) {
      sentences.push_back(fmt::format("{}: the suppression{} matched nothing", entry.origin, name));
    }
  }
  return sentences;
}

bool has_kind(const Leak& leak, const std::vector<std::string>& kinds) {
  return std::ranges::find(kinds, name_of(leak.kind)) != kinds.end();
}

bool above_budget(std::uint64_t leaks, std::uint64_t bytes, std::uint64_t budget) {
  return budget == 0 ? leaks > 0 : bytes > budget;
}

Verdict judge(const Report& report, const Settings& settings) {
  const std::vector<std::string> kinds = settings.list(Opt::fail_on);
  Verdict verdict;
  for (const Leak& leak : report.leaks) {
    if (leak.hidden() || !has_kind(leak, kinds)) continue;
    verdict.leaks += 1;
    verdict.bytes += leak.total().bytes;
  }
  verdict.findings = above_budget(verdict.leaks, verdict.bytes, settings.size(Opt::budget));
  return verdict;
}

}  // namespace plumb
