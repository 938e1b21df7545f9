// plumb run: runs a program and reports what it leaked.
//
// Everything that can be wrong with our own work is found before the program
// starts, or said after it ended; in between nothing of plumb is seen.

#include <charconv>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "driver/command.h"
#include "driver/input.h"
#include "driver/judge.h"
#include "driver/program_report.h"
#include "driver/progress.h"
#include "driver/site_questions.h"
#include "driver/stats.h"
#include "report/text_cells.h"
#include "run/run.h"

namespace plumb {

namespace {

// "0xffffffffffff", or decimal.
Result<std::uint64_t> pointer_mask(std::string_view text) {
  const bool hex = text.starts_with("0x");
  const std::string_view digits = hex ? text.substr(2) : text;
  std::uint64_t mask = 0;
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), mask, hex ? 16 : 10);
  // All of the bits that addresses of programs differ in must be in it.
  constexpr std::uint64_t kNeeded = (std::uint64_t{1} << 36) - 1;
  if (problem != std::errc() || end != digits.data() + digits.size() ||
      (mask & kNeeded & ~std::uint64_t{15}) != (kNeeded & ~std::uint64_t{15})) {
    return fail("--pointer-mask", fmt::format("'{}' is not a mask of addresses", text),
                "name the bits that are an address: 0xffffffffffff for tags in the upper 16");
  }
  return mask;
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
  options.quick_stacks = settings.is_default(Opt::stacks);
  options.forgotten = !settings.flag(Opt::no_forgotten);
  options.last_use = settings.flag(Opt::last_use);
  options.keep_trace = settings.text(Opt::keep_trace);
  if (settings.flag(Opt::once)) {
    options.look = RunOptions::Look::once;
  } else if (settings.flag(Opt::no_rerun)) {
    options.look = RunOptions::Look::scan_only;
  }
  options.follow = settings.text(Opt::follow) == "children";
  if (settings.has(Opt::pointer_mask)) {
    const Result<std::uint64_t> mask = pointer_mask(settings.text(Opt::pointer_mask));
    if (!mask) return std::unexpected(mask.error());
    options.pointer_mask = *mask;
  }
  for (const Opt opt : {Opt::alloc_fn, Opt::free_fn}) {
    for (const std::string& text : settings.list(opt)) {
      Result<CustomFunction> function = parse_custom_function(text, opt == Opt::free_fn);
      if (!function) return std::unexpected(function.error());
      options.custom.push_back(std::move(*function));
    }
  }
  if (!options.custom.empty() && options.follow) {
    return fail("--alloc-fn", "does not go with --follow", "leave one of them out");
  }
  constexpr std::size_t kMostFunctions = 16;
  if (options.custom.size() > kMostFunctions) {
    return fail("--alloc-fn", "more than 16 functions are named");
  }
  if (settings.has(Opt::sites)) {
    Result<Sites> sites = load_sites(settings.text(Opt::sites));
    if (!sites) return std::unexpected(sites.error());
    options.sites = std::move(*sites);
  }
  if (settings.has(Opt::drop_frees)) {
    const Result<DropFrees> drop = parse_drop_frees(settings.text(Opt::drop_frees));
    if (!drop) return std::unexpected(drop.error());
    options.drop = *drop;
  }
  if (const std::string action = settings.text(Opt::on_leak); action != "report") {
    if (settings.flag(Opt::no_rerun)) {
      return fail("--on-leak", "needs the second run, or --once", "leave --no-rerun out");
    }
    options.on_leak = action;
    options.leak_threshold = settings.size(Opt::leak_threshold);
  }
  if (settings.has(Opt::report_every)) {
    if (settings.flag(Opt::once) || options.follow) {
      return fail("--report-every", "does not go with --once or --follow", "leave one of them out");
    }
    options.report_every = settings.seconds(Opt::report_every);
  }
  options.on_report = [&](Report& report) { show_so_far(report, settings, *aids); };
  if (options.follow && settings.flag(Opt::once)) {
    return fail("--follow", "does not go with --once", "leave one of them out");
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

  if (options.follow && settings.text(Opt::output).find("%p") != std::string::npos) {
    for (Report& report : outcome->processes) show_so_far(report, settings, *aids);
    outcome->report.subject.pid.reset();  // it is everybody's
  }
  return finish_program({outcome->report, outcome->wait_status}, settings, *aids, stats);
}

}  // namespace plumb
