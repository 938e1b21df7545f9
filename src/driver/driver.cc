#include "driver/driver.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "driver/build_info.h"
#include "driver/completion.h"
#include "driver/config.h"
#include "driver/help.h"
#include "driver/manual.h"
#include "driver/parse.h"
#include "driver/present.h"
#include "driver/runtime_options.h"
#include "driver/screen.h"
#include "driver/values.h"
#include "report/html.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

// Names and paths in a message are somebody's: nothing in them may steer the
// terminal.
Ending print_error(const Error& error) {
  const Error safe{printable(error.where), printable(error.what), printable(error.hint)};
  (void)write_stream(STDERR_FILENO, safe.message());
  return {.status = kWrongUsage};
}

Ending print(std::string_view text) {
  const Result<void> good = write_stream(STDOUT_FILENO, text);
  return good ? Ending{} : print_error(good.error());
}

std::string version_text() {
  return fmt::format("plumb {}\nbuilt with LLVM {}\nbuilt with Z3 {}\nbuilt with Valgrind {}\n",
                     kPlumbVersion, kLlvmVersion, kZ3Version, kValgrindVersion);
}

Result<std::string> dump_of(std::string_view what) {
  if (Result<void> good = check_value(spec_of(Opt::dump), what, "--dump"); !good) {
    return std::unexpected(good.error());
  }
  if (what == "man") return manual_page();
  if (what == "bash") return bash_completion();
  if (what == "zsh") return zsh_completion();
  return fish_completion();
}

Result<void> read_config(const CommandLine& line, Settings& settings) {
  std::string path;
  if (const auto given = line.options.find(Opt::config); given != line.options.end()) {
    path = given->second.front();
  } else {
    std::error_code problem;
    const std::filesystem::path here = std::filesystem::current_path(problem);
    std::optional<std::string> found = problem ? std::nullopt : find_config(here.string());
    if (!found) return {};
    // Named as a user would write it from here.
    path = std::filesystem::path(*found).lexically_relative(here).string();
  }
  Result<std::string> text = read_file(path);
  if (!text) return std::unexpected(text.error());
  return apply_config(*text, path, settings);
}

Result<Invocation> prepare(Command command, const CommandLine& line) {
  Settings settings(command);
  if (Result<void> good = apply_command_line(line, settings); !good) {
    return std::unexpected(good.error());
  }
  if (Result<void> good = read_config(line, settings); !good) {
    return std::unexpected(good.error());
  }
  std::vector<std::string> complaints;
  if (const char* text = std::getenv(kRuntimeVariable);
      text != nullptr && (command == Command::run || command == Command::watch ||
                          line.options.contains(Opt::ended_program))) {
    complaints = apply_runtime_options(text, settings);
  }
  if (Result<void> good = settings.resolve_conflicts(); !good) {
    return std::unexpected(good.error());
  }
  // Said before a long analysis, not after it.
  if (spec_of(Opt::format).commands.has(command) && format_in_force(settings) == Format::html) {
    if (Result<void> good = page_is_there(); !good) return std::unexpected(good.error());
  }
  for (const std::string& complaint : complaints) {
    note(settings, fmt::format("{}: {}", kRuntimeVariable, complaint));
  }
  return Invocation{std::move(settings), line.words, line.build};
}

Result<Ending> dispatch(const Invocation& call) {
  switch (call.settings.command()) {
    case Command::check:
      return command_check(call);
    case Command::run:
      return command_run(call);
    case Command::watch:
      return command_watch(call);
    case Command::cc:
      return command_cc(false, call.words);
    case Command::model:
      return command_model(call.words);
    case Command::report:
      return command_report(call);
    case Command::diff:
      return command_diff(call);
    case Command::explain:
      return command_explain(call);
    case Command::doctor:
      return command_doctor(call);
  }
  return Ending{.status = kWrongUsage};
}

Result<Ending> run_command(Command command, const std::vector<std::string>& arguments) {
  Result<CommandLine> line = parse_command(command, arguments);
  if (!line) return std::unexpected(line.error());
  if (line->options.contains(Opt::help)) return print(command_help(command));
  Result<Invocation> call = prepare(command, *line);
  if (!call) return std::unexpected(call.error());
  if (call->settings.flag(Opt::show_config)) return print(call->settings.describe());
  return dispatch(*call);
}

Result<Ending> run_global(const std::vector<std::string>& arguments) {
  Result<CommandLine> line = parse_global(arguments);
  if (!line) return std::unexpected(line.error());
  const auto& options = line->options;
  if (options.contains(Opt::version)) return print(version_text());
  if (const auto dump = options.find(Opt::dump); dump != options.end()) {
    Result<std::string> text = dump_of(dump->second.front());
    if (!text) return std::unexpected(text.error());
    return print(*text);
  }
  std::vector<std::string> words = std::move(line->words);
  const bool asks_help = options.contains(Opt::help);
  // `plumb help`, `plumb help run`, `plumb --help run`.
  const bool says_help = !words.empty() && words.front() == "help";
  if (says_help) words.erase(words.begin());
  if (words.empty()) {
    if (asks_help || says_help) return print(overall_help());
    (void)write_stream(STDERR_FILENO, overall_help());
    return Ending{.status = kWrongUsage};
  }
  Result<Command> command = command_named(words.front());
  if (!command) return std::unexpected(command.error());
  if (asks_help || says_help) return print(command_help(*command));
  return run_command(*command, {words.begin() + 1, words.end()});
}

// Those that take their words as a compiler does: nothing of them is ours.
bool is_compiler_word(std::string_view word) {
  return word == "cc" || word == "c++" || word == "model";
}

Result<Ending> run_compiler(std::string_view word, const std::vector<std::string>& arguments) {
  if (word == "model") return command_model(arguments);
  return command_cc(word == "c++", arguments);
}

}  // namespace

Ending run_driver(std::string_view name, const std::vector<std::string>& arguments) {
  name.remove_prefix(name.find_last_of('/') + 1);
  constexpr std::string_view kOneWord = "plumb-";
  const Result<Ending> ending = [&] {
    if (name.starts_with(kOneWord) && is_compiler_word(name.substr(kOneWord.size()))) {
      return run_compiler(name.substr(kOneWord.size()), arguments);
    }
    if (!arguments.empty() && is_compiler_word(arguments[0])) {
      return run_compiler(arguments[0], {arguments.begin() + 1, arguments.end()});
    }
    return run_global(arguments);
  }();
  return ending ? *ending : print_error(ending.error());
}

void end_as(const Ending& ending) {
  if (ending.signal != 0) {
    // The program's signal, not its core: that one it has left itself.
    const struct rlimit none{};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    std::signal(ending.signal, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, ending.signal);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    kill(getpid(), ending.signal);
    std::exit(128 + ending.signal);
  }
  std::exit(ending.status);
}

}  // namespace plumb
