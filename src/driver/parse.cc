#include "driver/parse.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "driver/values.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

using Rows = std::vector<const OptionSpec*>;

Rows global_rows() {
  Rows rows;
  for (const OptionSpec& option : option_table()) {
    if (find_global_option(option.name) == &option) rows.push_back(&option);
  }
  return rows;
}

// "--format=json" -> "format"; "-f" -> "f".
std::string_view option_name(std::string_view word) {
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  return word.substr(0, word.find('='));
}

// "`plumb report`", "`plumb run` and `plumb report`".
std::string command_phrase(const std::vector<Command>& commands) {
  std::vector<std::string> phrases;
  for (const Command command : commands) {
    phrases.push_back(fmt::format("`plumb {}`", name_of(command)));
  }
  if (phrases.size() == 1) return phrases.front();
  const std::string last = std::move(phrases.back());
  phrases.pop_back();
  return fmt::format("{} and {}", fmt::join(phrases, ", "), last);
}

std::vector<std::string_view> visible_names(const Rows& rows) {
  std::vector<std::string_view> names;
  for (const OptionSpec* row : rows) {
    if (!row->hidden) names.push_back(row->name);
  }
  return names;
}

// The message for an option that this place does not have.
Error unknown_option(std::optional<Command> command, const Rows& rows, std::string_view word) {
  const std::string place =
      command ? fmt::format("`plumb {}`", name_of(*command)) : std::string("`plumb`");
  const std::string shown = printable(word.substr(0, word.find('=')));
  const std::string_view name = option_name(word);
  if (word.starts_with("--")) {
    const std::vector<Command> owners = commands_with(name);
    if (!owners.empty() && !command) {
      return {{},
              fmt::format("{} stands before the command", shown),
              fmt::format("write it after the command: plumb {} {} ...", name_of(owners.front()),
                          printable(word))};
    }
    if (!owners.empty()) {
      return {{},
              fmt::format("{} is an option of {}, not of {}", shown, command_phrase(owners), place),
              fmt::format("`plumb {} --help` lists what it takes", name_of(*command))};
    }
    if (const OptionSpec* global = find_global_option(name); global != nullptr && command) {
      return {{},
              fmt::format("{} stands alone, not after a command", shown),
              fmt::format("write `plumb {}`", shown)};
    }
    if (const std::string_view near = nearest(name, visible_names(rows)); !near.empty()) {
      return {{},
              fmt::format("{} has no option {}", place, shown),
              fmt::format("did you mean --{}?", near)};
    }
    std::vector<std::string_view> all;
    for (const OptionSpec& option : option_table()) {
      if (!option.hidden) all.push_back(option.name);
    }
    if (const std::string_view near = nearest(name, all); !near.empty()) {
      return {{},
              fmt::format("{} has no option {}", place, shown),
              fmt::format("--{} is an option of {}", near, command_phrase(commands_with(near)))};
    }
  } else {
    // Long names written with one dash.
    for (const OptionSpec* row : rows) {
      if (row->name == name && !row->hidden) {
        return {{},
                fmt::format("{} has no option {}", place, shown),
                fmt::format("did you mean --{}?", name)};
      }
    }
  }
  return {{},
          fmt::format("{} has no option {}", place, shown),
          command ? fmt::format("`plumb {} --help` lists what it takes", name_of(*command))
                  : std::string("`plumb --help` lists what it takes")};
}

Error missing_value(const OptionSpec& option) {
  return {{},
          fmt::format("--{} needs a value", option.name),
          fmt::format("write --{}={}", option.name, option.value_name)};
}

const OptionSpec* row_named(const Rows& rows, std::string_view dashed) {
  const auto found =
      std::ranges::find_if(rows, [&](const OptionSpec* row) { return row->dashed() == dashed; });
  return found == rows.end() ? nullptr : *found;
}

// CLI11 names the option at the start of its message, with dashes or without.
Error usage_error(const Rows& rows, const CLI::ParseError& problem) {
  const std::string_view message = problem.what();
  std::string name(message.substr(0, message.find_first_of(": ")));
  if (!name.starts_with("--")) name.insert(0, "--");
  const OptionSpec* row = row_named(rows, name);
  if (row == nullptr) return {{}, printable(message), {}};
  if (row->takes_value()) return missing_value(*row);
  return {{}, fmt::format("--{} takes no value", row->name), fmt::format("write --{}", row->name)};
}

Result<CommandLine> parse(std::optional<Command> command, const Rows& rows, bool stop_at_word,
                          const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  if (stop_at_word) app.prefix_command();
  std::vector<std::pair<const OptionSpec*, CLI::Option*>> made;
  for (const OptionSpec* row : rows) {
    std::string names = row->dashed();
    if (row->letter != 0) names = fmt::format("-{},{}", row->letter, names);
    CLI::Option* option = nullptr;
    if (row->takes_value()) {
      option = app.add_option(names, [](const CLI::results_t&) { return true; });
      option->type_size(1)->expected(1);
    } else {
      option = app.add_flag(names)->disable_flag_override();
    }
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    made.emplace_back(row, option);
  }
  // CLI11 takes "--output=" for an option whose value is the next word.
  for (const std::string& word : arguments) {
    if (word == "--" || (stop_at_word && !word.starts_with('-'))) break;
    if (!word.ends_with('=')) continue;
    const OptionSpec* row = row_named(rows, std::string_view(word).substr(0, word.size() - 1));
    if (row != nullptr && row->takes_value()) return std::unexpected(missing_value(*row));
  }
  std::vector<std::string> words = arguments;
  for (std::string& word : words) {
    if (word == "--" || (stop_at_word && !word.starts_with('-'))) break;
    const OptionSpec* row = row_named(rows, word);
    if (row != nullptr && !row->bare_value.empty()) word += fmt::format("={}", row->bare_value);
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& problem) {
    return std::unexpected(usage_error(rows, problem));
  }

  CommandLine line;
  for (const auto& [row, option] : made) {
    if (option->count() == 0) continue;
    std::vector<std::string> values = option->results();
    if (!row->takes_value()) values.assign(1, "true");
    for (const std::string& value : values) {
      // "--output --format=json": the next option is not a value.
      if (value == "--" || row_named(rows, value.substr(0, value.find('='))) != nullptr) {
        return std::unexpected(missing_value(*row));
      }
    }
    line.options.emplace(row->opt, std::move(values));
  }
  bool options_ended = false;
  for (std::string& word : app.remaining()) {
    if (!options_ended && word == "--") {
      options_ended = true;
    } else if (!options_ended && word.size() > 1 && word.starts_with('-')) {
      return std::unexpected(unknown_option(command, rows, word));
    } else {
      // The rest is the command's or the program's, dashes or not.
      options_ended = options_ended || stop_at_word;
      line.words.push_back(std::move(word));
    }
  }
  return line;
}

}  // namespace

Result<CommandLine> parse_global(const std::vector<std::string>& arguments) {
  return parse(std::nullopt, global_rows(), true, arguments);
}

Result<CommandLine> parse_command(Command command, const std::vector<std::string>& arguments) {
  // What follows the program's name belongs to it, what follows -- to the build.
  const bool runs = command == Command::run || command == Command::watch;
  const bool has_build = command == Command::check;
  const auto dashes = has_build ? std::ranges::find(arguments, "--") : arguments.end();
  Result<CommandLine> line = parse(command, options_of(command), runs, {arguments.begin(), dashes});
  if (line && dashes != arguments.end()) line->build.assign(dashes + 1, arguments.end());
  return line;
}

Result<Command> command_named(std::string_view word) {
  if (const std::optional<Command> command = value_of<Command>(word)) return *command;
  const std::string_view near = nearest(word, command_names());
  return fail({}, fmt::format("there is no command '{}'", printable(word)),
              near.empty() ? fmt::format("the commands are {}", fmt::join(command_names(), ", "))
                           : fmt::format("did you mean `plumb {}`?", near));
}

Result<void> apply_command_line(const CommandLine& line, Settings& settings) {
  for (const auto& [opt, values] : line.options) {
    const OptionSpec& option = spec_of(opt);
    for (const std::string& value : values) {
      if (Result<void> good = check_value(option, value, option.dashed()); !good) return good;
    }
    const bool adds = option.is_list();
    const auto other =
        std::ranges::find_if(values, [&](const std::string& value) { return value != values[0]; });
    if (!adds && other != values.end()) {
      return fail({},
                  fmt::format("--{} is given twice: '{}' and '{}'", option.name,
                              printable(values[0]), printable(*other)),
                  "give it once");
    }
    settings.set(option, adds ? values : std::vector<std::string>{values[0]}, Origin::command_line);
  }
  return {};
}

}  // namespace plumb
