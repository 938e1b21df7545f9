#include "report/text_place.h"

#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"
#include "core/function_name.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

constexpr std::size_t kLongName = 40;     // template arguments are left out beyond
constexpr std::size_t kLongestName = 60;  // the middle is left out beyond

// "Map<A, B<C>>::put" -> "Map<…>::put".
std::string without_arguments(std::string_view name) {
  // In "operator<" and "operator->" the brackets are no brackets.
  const std::size_t op = name.find("operator");
  std::string text;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (depth == 0 && op != std::string_view::npos && i >= op) {
      text += name.substr(i);
      return text;
    }
    if (name[i] == '<' && depth++ == 0) text += "<…>";
    if (depth == 0) text += name[i];
    if (name[i] == '>' && depth > 0) --depth;
  }
  return text;
}

// True with the rest in `below` when `file` lies in `directory`.
bool cut_directory(const std::string& file, const std::string& directory, std::string& below) {
  if (directory.size() < 2 || !file.starts_with(directory)) return false;
  const std::size_t slash = directory.ends_with('/') ? directory.size() - 1 : directory.size();
  if (slash + 1 >= file.size() || file[slash] != '/') return false;
  below = file.substr(slash + 1);
  return true;
}

// "../src/a.c" for a file beside or above the directory: who builds in a folder of the
// tree is a step or two away from its sources. Empty when it is farther, or when the
// two have nothing in common.
std::string across(const std::string& file, const std::string& directory) {
  constexpr int kMostSteps = 2;
  constexpr int kDeep = 3;  // "/home/you" is no tree that the two share
  std::filesystem::path above = std::filesystem::path(directory).lexically_normal();
  if (!above.has_filename()) above = above.parent_path();
  std::string steps;
  for (int i = 0; i < kMostSteps; ++i) {
    above = above.parent_path();
    steps += "../";
    const auto depth = std::distance(above.begin(), above.end()) - 1;  // without "/"
    if (depth < kDeep) return {};
    std::string below;
    if (cut_directory(file, above.string(), below)) return steps + below;
  }
  return {};
}

// "/a/./b/../c.c" -> "/a/c.c"
std::string normal_path(const std::string& file) {
  if (file.find("/.") == std::string::npos && file.find("//") == std::string::npos) return file;
  return std::filesystem::path(file).lexically_normal().string();
}

}  // namespace

std::string short_function(std::string_view function) {
  const std::string normalised = normalised_function(function);
  const std::string_view stem = function_stem(normalised);
  std::string text = printable(stem.empty() ? function : stem);
  if (columns(text) > kLongName) text = without_arguments(text);
  return shortened(text, kLongestName);
}

Places::Places(const Report& report, SourceCache& sources, std::string here, bool verbose)
    : report_(report), sources_(sources), here_(std::move(here)), verbose_(verbose) {}

std::string Places::below_subject(const std::string& file) const {
  std::string below;
  return cut_directory(normal_path(file), report_.subject.cwd, below) ? below : std::string();
}

std::string Places::file(const std::string& file) const {
  const std::string normal = normal_path(file);
  std::string below;
  if (cut_directory(normal, here_, below)) return printable(below);
  if (cut_directory(normal, report_.subject.cwd, below)) return printable(below);
  below = across(normal, here_);
  return printable(below.empty() ? normal : below);
}

std::string Places::address(const Frame& frame) const {
  if (!frame.module || frame.module->index >= report_.modules.size()) return {};
  const std::string name = printable(base_name(report_.modules[frame.module->index].path));
  return frame.offset ? fmt::format("{}+{:#x}", name, *frame.offset) : name;
}

std::string Places::line(const Frame& frame) const {
  if (!frame.file.empty()) {
    const std::string name = file(frame.file);
    return frame.line.value_or(0) > 0 ? fmt::format("{}:{}", name, *frame.line) : name;
  }
  const std::string where = address(frame);
  return where.empty() ? "?" : where;
}

std::string Places::column(const Frame& frame) const {
  const bool known =
      !frame.file.empty() && frame.line.value_or(0) > 0 && frame.column.value_or(0) > 0;
  return known ? fmt::format("{}:{}", line(frame), *frame.column) : line(frame);
}

std::string Places::function(const Frame& frame) const {
  const std::string& name = frame.function.empty() ? frame.linkage : frame.function;
  if (name.empty()) {
    const std::string where = address(frame);
    return where.empty() ? "?" : where;
  }
  return verbose_ ? printable(name) : short_function(name);
}

std::string Places::readable(const std::string& file) const {
  if (file.empty()) return {};
  if (sources_.has(file)) return file;
  // Recorded relative to where the subject ran; or the whole tree has moved
  // and the reader stands in it.
  const std::string below = file.starts_with('/') ? below_subject(file) : std::string();
  const std::string other = file.starts_with('/') ? below : report_.subject.cwd + "/" + file;
  return !other.empty() && sources_.has(other) ? other : std::string();
}

}  // namespace plumb
