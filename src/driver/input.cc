#include "driver/input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "core/fingerprint.h"
#include "core/merge.h"
#include "driver/build_info.h"
#include "report/json.h"
#include "report/text_cells.h"
#include "run/run.h"
#include "trace/record.h"
#include "watch/snapshot.h"
#include "watch/watch.h"

namespace plumb {

namespace {

constexpr std::string_view kTraceMagic = PLUMB_TRACE_MAGIC;
constexpr const char* kStandardInput = "standard input";

// Traces can be large: only the first bytes are looked at here.
bool is_trace_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) return false;
  char start[kTraceMagic.size()];
  // A pipe cannot be looked at without taking from it; pread refuses.
  const ssize_t got = pread(file.number(), start, sizeof start, 0);
  return got == static_cast<ssize_t>(sizeof start) &&
         std::string_view(start, sizeof start) == kTraceMagic;
}

// The report is this plumb's, whoever wrote the records.
Result<Report> read_trace(const std::string& path) {
  Result<Report> report = report_of_trace(path);
  if (report) report->tool.version = kPlumbVersion;
  return report;
}

// A trace from a pipe gets a file of its own, in memory: it is read by offset.
Result<Report> report_of_trace_bytes(std::string_view bytes) {
  const Descriptor file(memfd_create("plumb-trace", MFD_CLOEXEC));
  const std::string path = fmt::format("/proc/self/fd/{}", file.number());
  if (file.number() < 0) return fail(kStandardInput, "no room for the trace in memory");
  if (const Result<void> written = write_file(path, bytes); !written) {
    return fail(kStandardInput, "no room for the trace in memory");
  }
  Result<Report> report = read_trace(path);
  if (!report) {
    Error error = report.error();
    if (error.where.starts_with(path)) error.where.replace(0, path.size(), kStandardInput);
    return std::unexpected(error);
  }
  return report;
}

}  // namespace

Result<Report> load_report(const std::string& path, const StalePolicy& policy) {
  if (path != "-" && is_trace_file(path)) return read_trace(path);
  Result<std::string> text = read_file(path);
  const std::string shown = path == "-" ? kStandardInput : printable(path);
  if (!text) {
    Error error = text.error();
    error.where = shown;
    return std::unexpected(error);
  }
  if (text->starts_with(kTraceMagic)) return report_of_trace_bytes(*text);
  if (is_snapshot(*text)) {
    Result<Report> report = report_of_snapshot(*text, shown, policy);
    if (report) report->tool.version = kPlumbVersion;
    return report;
  }
  Result<Report> report = read_json(*text);
  if (!report) return std::unexpected(report.error().in(shown));
  return report;
}

Result<Report> load_reports(const std::vector<std::string>& paths, const StalePolicy& policy) {
  if (std::ranges::count(paths, "-") > 1) {
    return fail({}, "standard input is named twice", "give - once");
  }
  std::vector<Report> reports;
  for (const std::string& path : paths) {
    Result<Report> report = load_report(path, policy);
    if (!report) return report;
    reports.push_back(std::move(*report));
  }
  if (reports.size() == 1) return std::move(reports.front());
  Report merged = merge_reports(std::move(reports));
  // Leaks of different reports may have had the same name.
  assign_ids(merged);
  return merged;
}

StalePolicy stale_policy(const Settings& settings) {
  StalePolicy policy;
  policy.times_active = static_cast<double>(settings.number(Opt::times_active));
  policy.least_idle = settings.seconds(Opt::least_idle);
  policy.least_samples = settings.number(Opt::least_samples);
  policy.never_used = settings.flag(Opt::never_used);
  policy.must_grow = !settings.flag(Opt::no_growth);
  policy.list_all = settings.flag(Opt::all_sites);
  return policy;
}

}  // namespace plumb
