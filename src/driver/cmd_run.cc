// plumb run: runs a program and reports what it leaked.
//
// Everything that can be wrong with our own work is found before the program
// starts, or said after it ended; in between nothing of plumb is seen.

#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "driver/command.h"
#include "driver/judge.h"
#include "driver/program_report.h"
#include "driver/progress.h"
#include "driver/stats.h"
#include "run/run.h"

namespace plumb {

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
  options.forgotten = !settings.flag(Opt::no_forgotten);
  options.last_use = settings.flag(Opt::last_use);
  options.keep_trace = settings.text(Opt::keep_trace);
  if (settings.flag(Opt::once)) {
    options.look = RunOptions::Look::once;
  } else if (settings.flag(Opt::no_rerun)) {
    options.look = RunOptions::Look::scan_only;
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

  return finish_program({outcome->report, outcome->wait_status}, settings, *aids, stats);
}

}  // namespace plumb
