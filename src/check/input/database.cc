#include "check/input/database.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "check/input/compile_command.h"

namespace plumb::check {

namespace {

using nlohmann::json;

constexpr int kDeepest = 16;  // an entry is an object of strings and one list

// A text member, or null when it is absent or something else.
const std::string* text_of(const json& entry, const char* name) {
  const auto found = entry.find(name);
  return found == entry.end() ? nullptr : found->get_ptr<const std::string*>();
}

Result<std::vector<std::string>> words_of(const json& entry, const std::string& where) {
  const auto list = entry.find("arguments");
  if (list == entry.end()) {
    const std::string* command = text_of(entry, "command");
    if (!command) return fail(where, "has neither `arguments` nor `command`");
    return split_command(*command);
  }
  if (!list->is_array()) return fail(where, "`arguments` is not a list");
  std::vector<std::string> words;
  for (const json& word : *list) {
    const auto* text = word.get_ptr<const std::string*>();
    if (!text) return fail(where, "`arguments` has something other than text");
    words.push_back(*text);
  }
  return words;
}

}  // namespace

Result<std::vector<CompileJob>> read_database(const std::string& path) {
  std::error_code problem;
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file, problem)) file /= "compile_commands.json";
  const Result<std::string> text = read_file(file.string());
  if (!text) {
    Error error = text.error();
    error.hint =
        "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON makes one; or let Plumb watch the build: plumb "
        "check -- make";
    return std::unexpected(std::move(error));
  }
  bool too_deep = false;
  const auto limit = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kDeepest;
    return depth <= kDeepest;
  };
  json whole;
  try {
    whole = json::parse(*text, limit);
  } catch (const json::parse_error& error) {
    return fail(fmt::format("{}: byte {}", file.string(), error.byte), "is not JSON");
  }
  if (too_deep || !whole.is_array()) {
    return fail(file.string(), "is not a compilation database: a list of objects is expected");
  }
  std::vector<CompileJob> jobs;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::string where = fmt::format("{}: entry {}", file.string(), i);
    const json& entry = whole[i];
    if (!entry.is_object()) return fail(where, "is not an object");
    const std::string* directory = text_of(entry, "directory");
    if (!directory) return fail(where, "has no `directory`");
    Result<std::vector<std::string>> words = words_of(entry, where);
    if (!words) return std::unexpected(words.error());
    // Directories may be relative to the database.
    const std::filesystem::path base =
        std::filesystem::absolute(file, problem).parent_path() / *directory;
    for (CompileJob& job : jobs_of_command(base.lexically_normal().string(), *words)) {
      jobs.push_back(std::move(job));
    }
  }
  return without_repeats(std::move(jobs));
}

}  // namespace plumb::check
