#include "watch/family.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "core/fingerprint.h"
#include "core/merge.h"
#include "watch/snapshot.h"
#include "watch/watch_report.h"

namespace plumb {

namespace fs = std::filesystem;

std::vector<FamilyMember> family_of(const std::string& pattern, std::uint64_t first) {
  const fs::path path(pattern);
  const std::string name = path.filename();
  const std::size_t at = name.find("%p");
  std::vector<FamilyMember> family;
  if (at == std::string::npos) return family;
  const std::string before = name.substr(0, at);
  const std::string behind = name.substr(at + 2);
  std::error_code problem;
  for (fs::directory_iterator entry(path.parent_path(), problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string file = entry->path().filename();
    if (file.size() <= before.size() + behind.size() || !file.starts_with(before) ||
        !file.ends_with(behind)) {
      continue;
    }
    const std::string digits =
        file.substr(before.size(), file.size() - before.size() - behind.size());
    if (digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::uint64_t pid = std::stoull(digits);
    if (pid != first) family.push_back({pid, entry->path()});
  }
  std::ranges::sort(family, {}, &FamilyMember::pid);
  return family;
}

bool is_running(std::uint64_t pid) {
  // "4242 (a name) S ...": one that nobody has waited for yet is over, too.
  const std::string stat = read_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && name_end + 2 < stat.size() && stat[name_end + 2] != 'Z' &&
         stat[name_end + 2] != 'X';
}

Report with_family(Report report, const std::vector<FamilyMember>& family,
                   const StalePolicy& policy) {
  std::vector<Report> reports;
  reports.push_back(std::move(report));
  std::vector<std::string> running;
  std::size_t unreadable = 0;
  for (const FamilyMember& member : family) {
    if (is_running(member.pid)) {
      running.push_back(std::to_string(member.pid));
      continue;
    }
    const Result<std::string> bytes = read_file(member.path);
    const Result<WatchSnapshot> snapshot =
        bytes ? read_snapshot(std::as_bytes(std::span(*bytes)), member.path)
              : std::unexpected(bytes.error());
    if (!snapshot)
      ++unreadable;
    else
      reports.push_back(report_from(*snapshot, policy));
  }
  Report all = reports.size() == 1 ? std::move(reports.front()) : merge_reports(std::move(reports));
  assign_ids(all);
  if (unreadable != 0) {
    all.notes.push_back(
        {"unreadable-children",
         fmt::format("{} of children cannot be read", count_of(unreadable, "snapshot")),
         "",
         {}});
  }
  if (!running.empty()) {
    all.notes.push_back({"running-children",
                         fmt::format("{} still running and not in this report: {}",
                                     running.size() == 1 ? "one child is" : "some children are",
                                     fmt::join(running, ", ")),
                         fmt::format("plumb watch {} looks at it", running.front()),
                         {}});
  }
  return all;
}

}  // namespace plumb
