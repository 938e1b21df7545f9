#include "driver/config.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "base/text.h"
#include "core/toml_limits.h"
#include "driver/values.h"
#include "report/text_cells.h"

namespace plumb {

namespace fs = std::filesystem;

namespace {

std::string at(const std::string& path, const toml::source_region& source) {
  return fmt::format("{}:{}", path, source.begin.line);
}

std::string expected_type(const OptionSpec& option) {
  if (option.is_list()) return "a string or an array of strings";
  switch (option.type) {
    case ValueType::flag:
      return "true or false";
    case ValueType::number:
      return "a whole number";
    case ValueType::size:
      return "a whole number or a string like \"4k\"";
    default:
      return "a string";
  }
}

// The scalar as a user would write it on the command line; nullopt when its
// type does not fit the option.
std::optional<std::string> scalar_text(const OptionSpec& option, const toml::node& node) {
  const bool wants_number = option.type == ValueType::number || option.type == ValueType::size;
  if (option.type == ValueType::flag) {
    const auto* flag = node.as_boolean();
    if (flag == nullptr) return std::nullopt;
    return flag->get() ? "true" : "false";
  }
  if (const auto* number = node.as_integer(); number != nullptr && wants_number) {
    return fmt::format("{}", number->get());
  }
  if (const auto* text = node.as_string(); text != nullptr && option.type != ValueType::number) {
    return text->get();
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const std::string& path, Settings& settings)
      : path_(path), directory_(fs::path(path).parent_path()), settings_(settings) {}

  Result<void> read(const toml::table& root) {
    // The top first: the command's own table then replaces what it sets.
    for (const auto& [key, node] : root) {
      if (node.is_table()) continue;
      if (Result<void> good = top_key(key.str(), node); !good) return good;
    }
    for (const auto& [key, node] : root) {
      if (!node.is_table()) continue;
      const std::optional<Command> command = value_of<Command>(key.str());
      if (!command) return unknown_table(key.str(), node);
      for (const auto& [inner, value] : *node.as_table()) {
        if (Result<void> good = command_key(*command, inner.str(), value); !good) return good;
      }
    }
    return {};
  }

 private:
  Result<void> top_key(std::string_view key, const toml::node& node) {
    const std::vector<Command> commands = commands_with(key);
    std::vector<const OptionSpec*> rows;
    CommandSet owners;
    for (const Command command : commands) {
      const OptionSpec* row = find_option(command, key);
      if (!row->configurable) continue;
      owners = owners | row->commands;
      if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    }
    if (rows.empty()) return unknown_key(key, node, std::nullopt);
    if (!owners.several()) {
      return fail(at(path_, node.source()), fmt::format("{} belongs to one command only", key),
                  fmt::format("write it below [{}]", name_of(commands.front())));
    }
    // Rows of one name differ in what they allow. A value that some command
    // takes is right, and counts for those that take it.
    std::optional<Error> problem;
    bool fits_some = false;
    for (const OptionSpec* row : rows) {
      Result<std::vector<std::string>> values = values_of(*row, key, node);
      if (!values) {
        if (!problem) problem = values.error();
        continue;
      }
      fits_some = true;
      if (row->commands.has(settings_.command())) store(*row, std::move(*values), node);
    }
    if (!fits_some) return std::unexpected(*problem);
    return {};
  }

  Result<void> command_key(Command command, std::string_view key, const toml::node& node) {
    const OptionSpec* row = find_option(command, key);
    if (row == nullptr || !row->configurable) return unknown_key(key, node, command);
    Result<std::vector<std::string>> values = values_of(*row, key, node);
    if (!values) return std::unexpected(values.error());
    if (command == settings_.command()) store(*row, std::move(*values), node);
    return {};
  }

  void store(const OptionSpec& row, std::vector<std::string> values, const toml::node& node) {
    settings_.set(row, std::move(values), Origin::file, at(path_, node.source()));
  }

  Result<std::vector<std::string>> values_of(const OptionSpec& row, std::string_view key,
                                             const toml::node& node) {
    std::vector<const toml::node*> nodes;
    if (const toml::array* array = node.as_array(); array != nullptr && row.is_list()) {
      for (const toml::node& element : *array) nodes.push_back(&element);
      if (nodes.empty()) {
        return fail(at(path_, node.source()), fmt::format("{}: the list is empty", key),
                    "leave the key out");
      }
    } else {
      nodes.push_back(&node);
    }
    std::vector<std::string> values;
    for (const toml::node* element : nodes) {
      std::optional<std::string> text = scalar_text(row, *element);
      if (!text) {
        return fail(at(path_, element->source()),
                    fmt::format("{}: {} is expected here", key, expected_type(row)));
      }
      if (Result<void> good = check_value(row, *text, key); !good) {
        Error error = good.error();
        error.where = at(path_, element->source());
        return std::unexpected(error);
      }
      if (row.is_path()) text = resolved(*text);
      values.push_back(std::move(*text));
    }
    return values;
  }

  std::string resolved(const std::string& written) const {
    if (written == "-" || fs::path(written).is_absolute() || directory_.empty()) return written;
    return (directory_ / written).lexically_normal().string();
  }

  Result<void> unknown_table(std::string_view key, const toml::node& node) {
    if (!commands_with(key).empty()) {
      return fail(at(path_, node.source()), fmt::format("{} is an option, not a table", key));
    }
    const std::string_view near = nearest(key, command_names());
    return fail(at(path_, node.source()), fmt::format("there is no command '{}'", printable(key)),
                near.empty()
                    ? fmt::format("the tables are [{}]", fmt::join(command_names(), "], ["))
                    : fmt::format("did you mean [{}]?", near));
  }

  Result<void> unknown_key(std::string_view key, const toml::node& node,
                           std::optional<Command> command) {
    const std::string place =
        command ? fmt::format("`plumb {}` has no option", name_of(*command)) : "there is no option";
    std::string what = fmt::format("{} '{}' for {}", place, printable(key), kConfigName);
    std::set<std::string_view> names;
    for (const OptionSpec& option : option_table()) {
      const bool here = command ? option.commands.has(*command) : !option.commands.empty();
      if (here && option.configurable) names.insert(option.name);
    }
    const std::string_view near = nearest(key, {names.begin(), names.end()});
    std::string hint;
    if (command && !commands_with(key).empty()) {
      hint = fmt::format("it is an option of `plumb {}`", name_of(commands_with(key).front()));
    } else if (!near.empty()) {
      hint = fmt::format("did you mean '{}'?", near);
    }
    return fail(at(path_, node.source()), std::move(what), std::move(hint));
  }

  const std::string& path_;
  fs::path directory_;
  Settings& settings_;
};

}  // namespace

std::optional<std::string> find_config(const std::string& directory) {
  fs::path here(directory);
  while (true) {
    const fs::path candidate = here / kConfigName;
    std::error_code problem;
    if (fs::is_regular_file(candidate, problem)) return candidate.string();
    if (!here.has_relative_path()) return std::nullopt;  // the root, or nothing
    here = here.parent_path();
  }
}

Result<void> apply_config(std::string_view text, const std::string& path, Settings& settings) {
  if (const std::optional<std::size_t> line = too_deep_toml_line(text)) {
    return fail(fmt::format("{}:{}", path, *line), "keys or brackets nest too deep");
  }
  toml::table root;
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& problem) {
    const auto& place = problem.source().begin;
    return fail(fmt::format("{}:{}:{}", path, place.line, place.column),
                printable(problem.description()));
  }
  return Reader(path, settings).read(root);
}

}  // namespace plumb
