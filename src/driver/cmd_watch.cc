// plumb watch: a program under the sampling runtime, or a look at one that
// already runs so.
//
// A program's end is handled as `run` does. A running one is only asked for
// snapshots: on a terminal again and again (the view), otherwise once.
//
// --serve beside a program that we start: while it runs, a thread of its own
// answers; the main thread waits, and answers itself after the end.

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "core/order.h"
#include "driver/build_info.h"
#include "driver/command.h"
#include "driver/filter.h"
#include "driver/input.h"
#include "driver/judge.h"
#include "driver/live.h"
#include "driver/present.h"
#include "driver/program_report.h"
#include "driver/screen.h"
#include "driver/stats.h"
#include "driver/watch_view.h"
#include "watch/metrics.h"
#include "watch/places.h"
#include "watch/watch.h"

namespace plumb {

namespace {

// A program's name is hardly ever a number; ./1234 is one.
std::optional<std::uint64_t> process_number(const std::vector<std::string>& words) {
  if (words.size() != 1) return std::nullopt;
  const std::string& word = words.front();
  if (word.empty() || word.size() > 9 ||
      word.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoull(word);
}

Result<Report> look_at(std::uint64_t pid, const Settings& settings) {
  const Result<std::string> bytes = ask_for_snapshot(pid);
  if (!bytes) return std::unexpected(bytes.error());
  Result<Report> report =
      report_of_snapshot(*bytes, fmt::format("process {}", pid), stale_policy(settings));
  if (report) report->tool.version = kPlumbVersion;
  return report;
}

void arrange(Report& report, const Settings& settings, Aids& aids) {
  hide(report, aids);
  apply_filters(report, settings);
  sort_leaks(report, *value_of<SortKey>(settings.text(Opt::sort)));
}

Result<Ending> report_once(std::uint64_t pid, const Settings& settings, Aids& aids) {
  Result<Report> report = look_at(pid, settings);
  if (!report) return std::unexpected(report.error());
  arrange(*report, settings, aids);
  const Verdict verdict = judge(*report, settings);
  const bool sound = check_report(*report);
  const std::string text = rendered(*report, settings, STDOUT_FILENO);
  if (const Result<void> good = deliver(settings, STDOUT_FILENO, text); !good) {
    return std::unexpected(good.error());
  }
  if (!sound) return Ending{.status = kUnfinished};
  return Ending{.status = verdict.findings ? kFindings : kNothingFound};
}

// Until ^C, or the program's end.
Result<Ending> view(std::uint64_t pid, const Settings& settings, Aids& aids) {
  bool seen = false;
  while (true) {
    Result<Report> report = look_at(pid, settings);
    if (!report) {
      if (seen) return Ending{};
      return std::unexpected(report.error());
    }
    seen = true;
    arrange(*report, settings, aids);
    const Screen screen = screen_of(STDOUT_FILENO, settings.text(Opt::color));
    const std::string text = "\x1b[H\x1b[2J" + watch_view(*report, screen);
    if (const Result<void> good = write_stream(STDOUT_FILENO, text); !good) {
      return std::unexpected(good.error());
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(settings.seconds(Opt::interval)));
  }
}

Result<Ending> serve(std::uint64_t pid, const Settings& settings, Aids& aids) {
  const auto text = [&]() -> Result<std::string> {
    Result<Report> report = look_at(pid, settings);
    if (!report) return std::unexpected(report.error());
    arrange(*report, settings, aids);
    return metrics_text(*report);
  };
  if (const Result<std::string> first = text(); !first) return std::unexpected(first.error());
  const Result<void> end = serve_metrics(
      static_cast<std::uint16_t>(settings.number(Opt::metrics)), text, [&](std::uint16_t port) {
        note(settings, fmt::format("metrics are at http://127.0.0.1:{}/metrics", port));
      });
  // The program's end is the usual one; a port that is taken is not.
  if (!end && end.error().where.starts_with("127.0.0.1")) return std::unexpected(end.error());
  return Ending{};
}

// Another watched process with the same program: the one we knew was restarted.
std::optional<std::uint64_t> successor(std::uint64_t pid, const std::vector<std::string>& command,
                                       const Settings& settings) {
  const Result<std::string> folder = watch_folder();
  if (!folder || command.empty()) return std::nullopt;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(*folder, problem)) {
    if (entry.path().extension() != ".socket") continue;
    const std::optional<std::uint64_t> other = process_number({entry.path().stem().string()});
    if (!other || *other == pid) continue;
    const Result<Report> report = look_at(*other, settings);
    if (report && !report->subject.command.empty() &&
        report->subject.command.front() == command.front()) {
      return other;
    }
  }
  return std::nullopt;
}

// What the page of a process shows: its present report, and when it is gone, that
// of one which took its place.
class Looker {
 public:
  Looker(std::uint64_t pid, std::vector<std::string> command, const Settings& settings, Aids aids)
      : pid_(pid), command_(std::move(command)), settings_(settings), aids_(std::move(aids)) {}

  void may_be_replaced() { may_be_replaced_ = true; }

  Result<Report> operator()() {
    Result<Report> report = look_at(pid_, settings_);
    if (!report && may_be_replaced_) {
      const std::optional<std::uint64_t> next = successor(pid_, command_, settings_);
      if (!next) return report;
      pid_ = *next;
      report = look_at(pid_, settings_);
    }
    if (!report) return report;
    command_ = report->subject.command;
    arrange(*report, settings_, aids_);
    return report;
  }

 private:
  std::uint64_t pid_;
  std::vector<std::string> command_;
  const Settings& settings_;
  Aids aids_;
  bool may_be_replaced_ = false;
};

Result<Ending> serve_page(std::uint64_t pid, const Settings& settings, const Aids& aids) {
  Looker look(pid, {}, settings, aids);
  Result<Report> first = look();
  if (!first) return std::unexpected(first.error());
  look.may_be_replaced();
  Result<LiveServer> live = LiveServer::open(settings, std::move(*first));
  if (!live) return std::unexpected(live.error());
  live->serve([&] { return look(); }, [] { return true; });
  return Ending{};
}

volatile std::sig_atomic_t told_to_end = 0;

// Serves while the program runs; started after it, so that it never sees the thread.
class Beside {
 public:
  Beside(LiveServer& live, const std::function<Result<Report>()>& look)
      : live_(live), look_(look) {}
  ~Beside() { stop(); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  void start() {
    // Signals are for the main thread, which passes them on.
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    thread_ = std::thread([this] { live_.serve(look_, [this] { return !over_; }); });
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }
  void stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  LiveServer& live_;
  const std::function<Result<Report>()>& look_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

WatchOptions options_from(const Invocation& call) {
  const Settings& settings = call.settings;
  WatchOptions options;
  options.command = call.words;
  options.epoch = settings.seconds(Opt::epoch);
  options.interval = settings.seconds(Opt::interval);
  options.sample = settings.size(Opt::sample);
  options.search = settings.size(Opt::search);
  options.stack_depth = static_cast<unsigned>(settings.number(Opt::stacks));
  options.snapshot_file = settings.text(Opt::snapshot_file);
  options.follow = settings.text(Opt::follow) == "children";
  options.policy = stale_policy(settings);
  return options;
}

// The page stays after the program's end, until ^C, unless the end came that way.
Result<Ending> watch_and_serve(const Invocation& call, Aids& aids) {
  const Settings& settings = call.settings;
  Report empty;
  empty.tool.engine = Engine::watch;
  empty.tool.mode = "sampled";
  empty.tool.version = kPlumbVersion;
  empty.subject.command = call.words;
  Result<LiveServer> live = LiveServer::open(settings, std::move(empty));
  if (!live) return std::unexpected(live.error());
  std::optional<Looker> looker;
  const std::function<Result<Report>()> look = [&] { return (*looker)(); };
  Beside beside(*live, look);
  WatchOptions options = options_from(call);
  options.on_start = [&](std::uint64_t pid) {
    looker.emplace(pid, call.words, settings, aids);
    beside.start();
  };
  options.on_end = [&] { beside.stop(); };
  Stats stats;
  Result<WatchOutcome> outcome = watch_program(options);
  if (!outcome) return std::unexpected(outcome.error());
  std::signal(SIGPIPE, SIG_IGN);
  stats.step("program and analysis");
  const Ending ending =
      finish_program({outcome->report, outcome->wait_status}, settings, aids, stats);
  if (outcome->from_outside) return ending;
  note(settings, "the program has ended; the page stays until ^C");
  live->show_last(std::move(outcome->report));
  looker->may_be_replaced();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::signal(signal, [](int) { told_to_end = 1; });
  }
  live->serve(look, [] { return told_to_end == 0; });
  return ending;
}

}  // namespace

Result<Ending> command_watch(const Invocation& call) {
  const Settings& settings = call.settings;
  if (call.words.empty()) {
    return fail({}, "neither a program nor a process was named",
                "write `plumb watch PROGRAM ARGS`, or `plumb watch PID`");
  }
  Result<Aids> aids = load_aids(settings);
  if (!aids) return std::unexpected(aids.error());
  for (const Opt opt : {Opt::output, Opt::snapshot_file}) {
    if (const Result<void> good = check_output(settings, opt); !good) {
      return std::unexpected(good.error());
    }
  }
  if (const std::optional<std::uint64_t> pid = process_number(call.words)) {
    if (settings.has(Opt::metrics)) return serve(*pid, settings, *aids);
    if (settings.has(Opt::serve)) return serve_page(*pid, settings, *aids);
    const bool goes_on = !settings.flag(Opt::snapshot) && !settings.has(Opt::output) &&
                         format_in_force(settings) == Format::text && isatty(STDOUT_FILENO) == 1;
    return goes_on ? view(*pid, settings, *aids) : report_once(*pid, settings, *aids);
  }
  if (settings.has(Opt::metrics)) {
    return fail({}, "--metrics is for a program that runs already",
                "start it with `plumb watch -- PROGRAM`, then `plumb watch --metrics=PORT PID`");
  }
  if (settings.size(Opt::sample) == 0) {
    return fail({}, "--sample=0: there must be some bytes between two samples",
                "write --sample=4k");
  }
  if (settings.has(Opt::serve)) return watch_and_serve(call, *aids);
  Stats stats;
  Result<WatchOutcome> outcome = watch_program(options_from(call));
  if (!outcome) return std::unexpected(outcome.error());
  std::signal(SIGPIPE, SIG_IGN);
  stats.step("program and analysis");
  return finish_program({outcome->report, outcome->wait_status}, settings, *aids, stats);
}

}  // namespace plumb
