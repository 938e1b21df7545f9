#include "driver/runtime_options.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "driver/values.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

bool separates(char c) { return c == ':' || c == ',' || c == ' ' || c == '\t' || c == '\n'; }

struct Pair {
  std::string key;
  std::string value;
};

// Takes one key=value off the front of `text`, which starts with a key.
Pair take_pair(std::string_view& text) {
  Pair pair;
  std::size_t i = 0;
  while (i < text.size() && text[i] != '=' && !separates(text[i])) pair.key += text[i++];
  if (i < text.size() && text[i] == '=') {
    ++i;
    const char quote = i < text.size() && (text[i] == '\'' || text[i] == '"') ? text[i++] : '\0';
    // A comma separates words of a list, too: only colons and blanks end it.
    const auto ends = [&](char c) {
      return quote != '\0' ? c == quote : (separates(c) && c != ',');
    };
    while (i < text.size() && !ends(text[i])) pair.value += text[i++];
    if (quote != '\0' && i < text.size()) ++i;
  }
  text.remove_prefix(i);
  return pair;
}

// Read by the runtime inside the program (runtime/compiled/options.cc).
bool is_process_key(std::string_view key) {
  static constexpr std::array<std::string_view, 12> kKeys = {
      "mode",     "partial_limit", "depth",    "stacks", "sites", "drop_frees",
      "exitcode", "trace",         "decrease", "least",  "burst", "last_use"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

const OptionSpec* row_with_key(Command command, std::string_view key) {
  for (const OptionSpec* option : options_of(command)) {
    if (!option->runtime_key.empty() && option->runtime_key == key) return option;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> apply_runtime_options(std::string_view text, Settings& settings) {
  std::vector<std::string> complaints;
  std::map<const OptionSpec*, std::vector<std::string>> values;
  while (true) {
    while (!text.empty() && separates(text.front())) text.remove_prefix(1);
    if (text.empty()) break;
    Pair pair = take_pair(text);
    const OptionSpec* row = row_with_key(settings.command(), pair.key);
    if (row == nullptr && settings.command() != Command::run && is_process_key(pair.key)) continue;
    if (row == nullptr) {
      std::vector<std::string_view> keys;
      for (const OptionSpec* option : options_of(settings.command())) {
        if (!option->runtime_key.empty()) keys.push_back(option->runtime_key);
      }
      const std::string_view near = nearest(pair.key, keys);
      complaints.push_back(
          fmt::format("unknown key '{}' ignored{}", printable(pair.key),
                      near.empty() ? std::string{} : fmt::format(", the nearest is '{}'", near)));
      continue;
    }
    if (row->type == ValueType::flag) {
      if (pair.value.empty() || pair.value == "1") pair.value = "true";
      if (pair.value == "0") pair.value = "false";
    }
    if (const Result<void> good = check_value(*row, pair.value, pair.key); !good) {
      complaints.push_back(good.error().what + ", ignored");
      continue;
    }
    std::vector<std::string>& list = values[row];
    if (!row->is_list()) list.clear();  // the last one wins, as in a sanitizer
    list.push_back(std::move(pair.value));
  }
  for (auto& [row, list] : values) settings.set(*row, std::move(list), Origin::environment);
  return complaints;
}

}  // namespace plumb
