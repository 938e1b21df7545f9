// The one table of commands and options.
//
// Parser, --help, the manual page, shell completions, plumb.toml and
// PLUMB_OPTIONS are all made from these rows, so that none of them can know
// an option that the others do not. A name may have several rows when
// commands take different values (`--format` of `report` and of `diff`); no
// command has the same name twice.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"

namespace plumb {

enum class Command { check, model, run, cc, watch, report, diff, explain, doctor };

template <>
inline constexpr auto kNames<Command> = name_table<Command>({{Command::check, "check"},
                                                             {Command::model, "model"},
                                                             {Command::run, "run"},
                                                             {Command::cc, "cc"},
                                                             {Command::watch, "watch"},
                                                             {Command::report, "report"},
                                                             {Command::diff, "diff"},
                                                             {Command::explain, "explain"},
                                                             {Command::doctor, "doctor"}});

class CommandSet {
 public:
  constexpr CommandSet() = default;
  constexpr CommandSet(std::initializer_list<Command> commands) {
    for (const Command command : commands) bits_ |= bit(command);
  }
  constexpr bool has(Command command) const { return (bits_ & bit(command)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  // An option of several commands can be set once for all of them.
  constexpr bool several() const { return (bits_ & (bits_ - 1)) != 0; }
  constexpr CommandSet operator|(CommandSet other) const {
    CommandSet both;
    both.bits_ = bits_ | other.bits_;
    return both;
  }

 private:
  static constexpr unsigned bit(Command command) { return 1U << static_cast<unsigned>(command); }
  unsigned bits_ = 0;
};

enum class ValueType {
  flag,       // takes no value
  number,     // within OptionSpec::least and ::most
  size,       // bytes, with k, M or G
  duration,   // seconds, or with ms, s, m or h
  text,       // anything, often a glob
  file,       // a path
  directory,  // a path
  choice,     // one of OptionSpec::choices
  choices,    // several of them, separated by commas
};

// One word per row of the table, in its order.
enum class Opt {
  format,
  plain_format,
  output,
  sort,
  limit,
  min_size,
  suppressions,
  baseline,
  budget,
  fail_on,
  show_hidden,
  source_root,
  html_sources,
  project,
  cflags,
  jobs,
  cache,
  no_cache,
  oom,
  globals,
  undecided,
  certain,
  also,
  model,
  models,
  when,
  show_summary,
  summary_as,
  error_exitcode,
  stacks,
  no_forgotten,
  once,
  no_rerun,
  last_use,
  pointer_mask,
  report_every,
  on_leak,
  leak_threshold,
  sites,
  alloc_fn,
  free_fn,
  drop_frees,
  keep_trace,
  snapshot,
  snapshot_file,
  metrics,
  serve,
  sample,
  search,
  epoch,
  interval,
  follow,
  times_active,
  least_idle,
  least_samples,
  never_used,
  no_growth,
  all_sites,
  kind,
  file,
  function,
  module,
  id,
  gen_suppressions,
  ended_program,
  site_questions,
  color,
  quiet,
  verbose,
  stats,
  config,
  show_config,
  help,
  version,
  dump,
};

struct OptionSpec {
  Opt opt = {};
  std::string_view name = {};  // without the dashes
  char letter = 0;             // short form, or none
  ValueType type = ValueType::flag;
  std::string_view value_name = {};     // in help, for types other than flag
  std::string_view default_value = {};  // as a user would write it; empty: not set
  CommandSet commands = {};             // empty: only before any command
  std::string_view help = {};           // one phrase, no full stop
  std::span<const std::string_view> choices = {};
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  std::string_view bare_value = {};   // what `--name` alone means; empty: a value is needed
  bool repeatable = false;            // each use adds to the list
  bool configurable = true;           // may stand in plumb.toml, under its name
  std::string_view runtime_key = {};  // its name in PLUMB_OPTIONS, or none
  bool hidden = false;                // works, but is not for users

  std::string dashed() const { return "--" + std::string(name); }
  bool takes_value() const { return type != ValueType::flag; }
  bool is_path() const { return type == ValueType::file || type == ValueType::directory; }
  bool is_list() const { return repeatable || type == ValueType::choices; }
};

// What a command is for; the long texts are in the manual and in --help.
struct CommandSpec {
  Command command = {};
  std::string_view summary = {};      // one line
  std::string_view arguments = {};    // "FILE..."
  std::string_view description = {};  // paragraphs, separated by an empty line
  std::string_view example = {};      // commands, one per line
  std::string_view status = {};       // what the exit status means
};

std::span<const OptionSpec> option_table();
std::span<const CommandSpec> command_table();

const OptionSpec& spec_of(Opt opt);
const CommandSpec& spec_of(Command command);

// The row of this name for a command; null when it has none.
const OptionSpec* find_option(Command command, std::string_view name);
// The row of this name before any command ("help", "version").
const OptionSpec* find_global_option(std::string_view name);

std::vector<const OptionSpec*> options_of(Command command);  // in table order
std::vector<std::string_view> command_names();

// All commands that have an option of this name; empty for an unknown one.
std::vector<Command> commands_with(std::string_view name);

}  // namespace plumb
