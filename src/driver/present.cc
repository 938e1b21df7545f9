#include "driver/present.h"

#include <unistd.h>

#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/accounting.h"
#include "driver/filter.h"
#include "driver/screen.h"

namespace plumb {

namespace {

constexpr std::pair<std::string_view, Format> kEndings[] = {
    {".sarif", Format::sarif}, {".sarif.json", Format::sarif}, {".json", Format::json},
    {".html", Format::html},   {".xml", Format::junit},        {".folded", Format::folded},
    {".pb.gz", Format::pprof},
};

std::size_t limit_in_force(const Settings& settings) {
  const std::uint64_t limit = settings.number(Opt::limit);
  return limit == 0 ? std::numeric_limits<std::size_t>::max() : limit;
}

}  // namespace

Format format_in_force(const Settings& settings) {
  if (settings.is_default(Opt::format)) {
    const std::string path = settings.text(Opt::output);
    for (const auto& [ending, format] : kEndings) {
      if (path.ends_with(ending)) return format;
    }
  }
  return *value_of<Format>(settings.text(Opt::format));
}

RenderOptions render_options(const Settings& settings, int stream) {
  const bool to_file = settings.has(Opt::output) && settings.text(Opt::output) != "-";
  const std::string when = settings.text(Opt::color);
  // A file is no terminal, whatever the stream is.
  const Screen screen = screen_of(to_file ? -1 : stream, when);
  RenderOptions options;
  options.color = screen.color;
  options.width = screen.width;
  options.limit = limit_in_force(settings);
  options.show_hidden = settings.flag(Opt::show_hidden);
  options.verbose = settings.flag(Opt::verbose);
  options.html_sources = *value_of<HtmlSources>(settings.text(Opt::html_sources));
  std::error_code problem;
  const std::filesystem::path root =
      std::filesystem::weakly_canonical(settings.text(Opt::source_root), problem);
  options.source_root = problem ? settings.text(Opt::source_root) : root.string();
  return options;
}

bool check_report(const Report& report) {
  const Result<void> good = check_totals(report);
  if (good) return true;
  const Error error{
      {},
      fmt::format("internal error: the totals do not add up: {}{}{}", good.error().where,
                  good.error().where.empty() ? "" : ": ", good.error().what),
      "the report is written all the same; please report this as a bug of plumb"};
  const std::string message = error.message();
  (void)!write(STDERR_FILENO, message.data(), message.size());
  return false;
}

std::string rendered(Report& report, const Settings& settings, int stream) {
  const Format format = format_in_force(settings);
  const std::size_t limit = limit_in_force(settings);
  if (format != Format::text && settings.on_command_line(Opt::limit)) {
    cut_list(report, limit, true);
  }
  return render(report, format, render_options(settings, stream));
}

void name_process(Settings& settings, const Report& report) {
  const std::string pattern = settings.text(Opt::output);
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' && i + 1 < pattern.size() && pattern[i + 1] == 'p') {
      // Of several processes: all of them.
      path += report.subject.pid ? fmt::format("{}", *report.subject.pid) : "all";
      ++i;
    } else {
      path += pattern[i];
    }
  }
  if (path != pattern) settings.set(spec_of(Opt::output), {path}, Origin::command_line);
}

}  // namespace plumb
