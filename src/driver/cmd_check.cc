// plumb check: finds leaks in source code, without running it.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/find_program.h"
#include "base/paths.h"
#include "base/text.h"
#include "check/cache/unit_cache.h"
#include "check/check.h"
#include "check/input/compile_command.h"
#include "check/input/database.h"
#include "check/input/observe.h"
#include "check/model/unit_file.h"
#include "core/order.h"
#include "driver/build_info.h"
#include "driver/command.h"
#include "driver/filter.h"
#include "driver/judge.h"
#include "driver/present.h"
#include "driver/progress.h"
#include "driver/screen.h"
#include "driver/shown_summary.h"
#include "driver/stats.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

using check::CheckOptions;
using check::CompileJob;

bool is_llvm(std::string_view file) { return file.ends_with(".bc") || file.ends_with(".ll"); }

Result<void> add_file(const std::string& file, const Settings& settings, CheckOptions& options) {
  std::error_code problem;
  if (std::filesystem::is_directory(file, problem)) {
    return fail(printable(file), "is a folder",
                fmt::format("-p {} checks what its compile_commands.json lists", printable(file)));
  }
  if (!std::filesystem::is_regular_file(file, problem)) {
    return fail(printable(file), "there is no such file");
  }
  const std::string here = std::filesystem::current_path(problem).string();
  if (is_llvm(file)) {
    options.jobs.push_back({here, file, {"-x", "ir", file}});
    return {};
  }
  if (file.ends_with(check::kUnitEnding)) {
    options.units.push_back(file);
    return {};
  }
  if (!check::is_source(file)) {
    return fail(printable(file), "is neither C or C++ source nor LLVM bitcode or IR by its name",
                "sources end in .c, .cc, .cpp or .cxx, bitcode in .bc, IR in .ll, files of `plumb "
                "model` in .unit; a build goes after --");
  }
  std::vector<std::string> words = check::split_command(settings.text(Opt::cflags));
  words.insert(words.begin(), "clang");
  words.push_back(file);
  for (CompileJob& job : check::jobs_of_command(here, words))
    options.jobs.push_back(std::move(job));
  return {};
}

Result<void> add_database(const std::string& path, CheckOptions& options) {
  Result<std::vector<CompileJob>> jobs = check::read_database(path);
  if (!jobs) return std::unexpected(jobs.error());
  if (jobs->empty()) return fail(printable(path), "compile_commands.json compiles nothing");
  std::ranges::move(*jobs, std::back_inserter(options.jobs));
  return {};
}

Result<void> add_build(const Invocation& call, CheckOptions& options) {
  Result<check::ObservedBuild> build = check::observe_build(call.build);
  if (!build) return std::unexpected(build.error());
  if (build->jobs.empty() && build->wait_status != 0) {
    return fail(printable(call.build.front()), "the build failed before it compiled anything",
                "what it says stands above; it has to work without Plumb first");
  }
  if (build->jobs.empty()) {
    return fail(printable(call.build.front()), "the build compiled nothing that is still there",
                "build from clean: run `make clean` first, or the like");
  }
  if (build->wait_status != 0) {
    note(call.settings, "the build failed; what it compiled until then is checked");
  }
  std::ranges::move(build->jobs, std::back_inserter(options.jobs));
  return {};
}

// What is known of functions from the start: what comes with Plumb, and the user's.
Result<void> add_models(const Settings& settings, CheckOptions& options) {
  for (const auto& [name, models] : {std::pair("models/c.models", &options.models),
                                     std::pair("models/resources.models", &options.resources),
                                     std::pair("models/containers.models", &options.containers)}) {
    const Result<std::string> path = support_file(name);
    if (!path) return std::unexpected(path.error());
    Result<std::string> text = read_file(*path);
    if (!text) return std::unexpected(text.error());
    *models = {std::move(*text), *path};
  }
  options.also = settings.list(Opt::also);
  for (const std::string& file : settings.list(Opt::models)) {
    Result<std::string> own = read_file(file);
    if (!own) return std::unexpected(own.error());
    options.declared.push_back({std::move(*own), printable(file)});
  }
  for (const std::string& line : settings.list(Opt::model)) {
    options.declared.push_back({line, "--model"});
  }
  return {};
}

// Is there something to compile, and not only files of `plumb model`?
bool compiles(const Invocation& call) {
  return !call.build.empty() || call.settings.has(Opt::project) ||
         std::ranges::any_of(call.words, [](const std::string& file) {
           return !file.ends_with(check::kUnitEnding);
         });
}

Result<CheckOptions> options_of(const Invocation& call) {
  const Settings& settings = call.settings;
  CheckOptions options;
  // Said once and before a build is run for nothing, not of each unit.
  if (compiles(call)) {
    if (const Result<std::string> clang = find_clang(false); !clang) {
      return std::unexpected(clang.error());
    }
  }
  for (const std::string& file : call.words) {
    if (Result<void> good = add_file(file, settings, options); !good) {
      return std::unexpected(good.error());
    }
  }
  if (settings.has(Opt::project)) {
    if (Result<void> good = add_database(settings.text(Opt::project), options); !good) {
      return std::unexpected(good.error());
    }
  }
  if (!call.build.empty()) {
    if (Result<void> good = add_build(call, options); !good) return std::unexpected(good.error());
  }
  if (options.jobs.empty() && options.units.empty()) {
    return fail({}, "nothing to check",
                "write `plumb check -p DIR` with DIR/compile_commands.json, `plumb check FILE...` "
                "or `plumb check -- make`");
  }
  const std::uint64_t jobs = settings.number(Opt::jobs);
  options.threads =
      jobs ? static_cast<unsigned>(jobs) : std::max(1U, std::thread::hardware_concurrency());
  if (!settings.flag(Opt::no_cache)) {
    options.cache =
        settings.has(Opt::cache) ? settings.text(Opt::cache) : check::default_cache_folder();
  }
  options.oom = settings.flag(Opt::oom);
  options.globals = settings.flag(Opt::globals);
  options.show_summary = settings.text(Opt::show_summary);
  if (Result<void> good = add_models(settings, options); !good) {
    return std::unexpected(good.error());
  }
  return options;
}

// Leaves out the ways to lose memory that --when does not name.
void keep_asked_ways(Report& report, const Settings& settings) {
  const std::vector<std::string> asked = settings.list(Opt::when);
  std::erase_if(report.leaks, [&](const Leak& leak) {
    return leak.when && std::ranges::find(asked, name_of(*leak.when)) == asked.end();
  });
}

// What the second stage could not decide, or what is wrong more often than not, is kept for who
// asks, and said. With --certain so is what is right as often as not.
void hide_uncertain(Report& report, bool only_certain) {
  constexpr double kLikely = 0.5;
  constexpr double kCertain = 0.7;
  const double least = only_certain ? kCertain : kLikely;
  std::uint64_t hidden = 0;
  for (Leak& leak : report.leaks) {
    if (leak.suppressed || leak.confidence >= least) continue;
    leak.suppressed = Suppressed{"undecided", "whether its path can be taken is not known", {}};
    ++hidden;
  }
  if (hidden == 0) return;
  report.notes.push_back(
      {"undecided",
       fmt::format(
           "{} could not be decided, or only by much that is taken for granted, and {} hidden",
           count_of(hidden, "finding"), hidden == 1 ? "is" : "are"),
       only_certain ? "without --certain the likely ones are shown, --undecided shows all"
                    : "--undecided shows them",
       {}});
}

}  // namespace

Result<Ending> command_check(const Invocation& call) {
  const Settings& settings = call.settings;
  Result<Aids> aids = load_aids(settings);
  if (!aids) return std::unexpected(aids.error());
  Stats stats;
  Result<CheckOptions> options = options_of(call);
  if (!options) return std::unexpected(options.error());
  stats.step("find the units");
  const std::size_t units = options->jobs.size() + options->units.size();
  stats.count("units", units);
  Result<check::CheckOutcome> outcome = [&] {
    const Progress progress(settings, fmt::format("checking {} units", units));
    return check::check_program(*options);
  }();
  if (!outcome) return std::unexpected(outcome.error());
  stats.step("compile and analyse");
  stats.count("units from the cache", outcome->units_from_cache);
  stats.count("call cycles and functions from the cache", outcome->components_from_cache);
  for (const auto& [limit, functions] : outcome->cuts) {
    stats.count(fmt::format("cut by limit: {}", limit), functions);
  }
  if (settings.has(Opt::show_summary)) {
    if (outcome->summaries.empty()) {
      return fail(printable(settings.text(Opt::show_summary)), "there is no such function");
    }
    const std::string text =
        shown_summaries(outcome->summaries, *value_of<SummaryForm>(settings.text(Opt::summary_as)));
    if (const Result<void> good = deliver(settings, STDOUT_FILENO, text); !good) {
      return std::unexpected(good.error());
    }
    return Ending{.status = kNothingFound};
  }
  Report& report = outcome->report;

  report.tool.version = kPlumbVersion;
  std::error_code problem;
  report.subject.cwd = std::filesystem::current_path(problem).string();
  report.subject.command = call.build;
  keep_asked_ways(report, settings);
  if (!settings.flag(Opt::undecided)) hide_uncertain(report, settings.flag(Opt::certain));
  hide(report, *aids);
  apply_filters(report, settings);
  sort_leaks(report, *value_of<SortKey>(settings.text(Opt::sort)));
  const Verdict verdict = judge(report, settings);
  const bool sound = check_report(report);
  for (const Stage& stage : report.totals.stages) {
    stats.count(fmt::format("{}: candidates in", stage.name), stage.in);
    stats.count(fmt::format("{}: out", stage.name), stage.out);
  }

  const std::string text = rendered(report, settings, STDOUT_FILENO);
  if (const Result<void> good = deliver(settings, STDOUT_FILENO, text); !good) {
    return std::unexpected(good.error());
  }
  for (const std::string& sentence : unused_suppressions(aids->suppressions)) {
    note(settings, sentence);
  }
  if (settings.flag(Opt::stats)) {
    stats.suppressions(aids->suppressions);
    (void)write_stream(STDERR_FILENO, stats.text());
  }
  if (!sound) return Ending{.status = kUnfinished};
  return Ending{.status = verdict.findings ? kFindings : kNothingFound};
}

}  // namespace plumb
