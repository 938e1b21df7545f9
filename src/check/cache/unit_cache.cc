#include "check/cache/unit_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/find_program.h"
#include "base/paths.h"
#include "base/text.h"
#include "check/model/unit_file.h"

namespace plumb::check {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kListHead = "plumb unit list 1";

// What clang reads besides its command line.
constexpr const char* kVariables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
                                      "SOURCE_DATE_EPOCH"};

// The compiler as a file: its path, size and time. Its content is in libraries
// that are too large to read for this.
std::string compiler_identity() {
  const Result<std::string> found = find_program("clang-19");
  if (!found) return {};
  std::error_code problem;
  const fs::path file = fs::canonical(*found, problem);
  struct stat info{};
  if (problem || stat(file.c_str(), &info) != 0) return {};
  return fmt::format("{} {} {}.{}", file.string(), info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

std::string maker_identity() {
  std::string text = compiler_identity() + '\n' + compile_recipe();
  if (const Result<std::string> plugin = support_file("libplumb_lower.so"); plugin) {
    Contents contents;
    text += contents.of(*plugin).value_or("") + '\n';
  }
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    text += fmt::format("{}={}\n", name, value ? value : "");
  }
  return text;
}

// Folders of 256, so that none gets too long.
std::string place_of(const std::string& folder, const std::string& hash, std::string_view ending) {
  return fmt::format("{}/units/{}/{}{}", folder, hash.substr(0, 2), hash.substr(2), ending);
}

std::string absolute(const std::string& directory, std::string_view file) {
  return (fs::path(directory) / file).string();
}

void mark_used(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

Result<void> write_in_folder(const std::string& path, std::string_view content) {
  std::error_code problem;
  fs::create_directories(fs::path(path).parent_path(), problem);
  if (problem) return fail(path, problem.message());
  return write_file(path, content);
}

}  // namespace

UnitCache::UnitCache(std::string folder) : folder_(std::move(folder)) {
  if (!folder_.empty()) maker_ = maker_identity();
}

std::string UnitCache::job_key(const CompileJob& job) const {
  std::string key = fmt::format("{}{}\n{}\n", maker_, job.directory, job.file);
  for (const std::string& word : job.arguments) key += fmt::format("{} {}\n", word.size(), word);
  return key;
}

std::string UnitCache::list_path(const CompileJob& job) const {
  return place_of(folder_, hash_of(job_key(job)), ".files");
}

std::string UnitCache::results_path(const CompileJob& job, std::string_view context) const {
  if (folder_.empty()) return {};
  return place_of(folder_, hash_of(fmt::format("{}\n{}", context, job_key(job))), ".results");
}

std::string UnitCache::results_path(const std::string& unit_file, std::string_view context) const {
  if (folder_.empty()) return {};
  std::error_code problem;
  const std::string path = fs::absolute(unit_file, problem).string();
  return place_of(folder_, hash_of(fmt::format("{}\n{}", context, path)), ".results");
}

std::string UnitCache::unit_path(const CompileJob& job, const std::string& list) {
  std::string key = list_path(job) + '\n';
  for (const std::string_view file : split(list, '\n')) {
    if (file.empty() || file == kListHead) continue;
    const std::optional<std::string> content = contents_.of(absolute(job.directory, file));
    if (!content) return {};
    key += fmt::format("{} {}\n", file, *content);
  }
  return place_of(folder_, hash_of(key), ".unit");
}

Result<Unit> UnitCache::unit(const CompileJob& job) {
  if (folder_.empty()) return compile_unit(job);
  const std::string list = list_path(job);
  if (const Result<std::string> files = read_file(list); files && files->starts_with(kListHead)) {
    if (const std::string path = unit_path(job, *files); !path.empty()) {
      if (Result<Unit> known = read_unit(path); known) {
        ++found_;
        mark_used(list);
        mark_used(path);
        return known;
      }
    }
  }
  const Result<Compiled> compiled = compile(job);
  if (!compiled) return std::unexpected(compiled.error());
  keep(job, *compiled);
  return parse_unit(compiled->unit, job.file);
}

void UnitCache::keep(const CompileJob& job, const Compiled& compiled) {
  std::string list(kListHead);
  for (const std::string& file : compiled.files) {
    if (file.find('\n') != file.npos) return;  // the list could not say it
    list += '\n' + file;
  }
  const std::string path = unit_path(job, list);
  if (path.empty()) return;  // gone while the compiler ran
  Result<void> kept = write_in_folder(path, compiled.unit);
  if (kept) kept = write_in_folder(list_path(job), list);
  if (kept) return;
  const std::lock_guard lock(problem_mutex_);
  if (problem_.empty()) {
    problem_ = fmt::format("{}: {}", kept.error().where, kept.error().what);
  }
}

std::string UnitCache::problem() const {
  const std::lock_guard lock(problem_mutex_);
  return problem_;
}

void UnitCache::trim(std::uint64_t most_bytes) {
  if (folder_.empty()) return;
  struct Kept {
    fs::file_time_type used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<Kept> all;
  std::uint64_t total = 0;
  std::error_code problem;
  for (fs::recursive_directory_iterator at(folder_ + "/units", problem), end; !problem && at != end;
       at.increment(problem)) {
    std::error_code gone;
    if (!at->is_regular_file(gone)) continue;
    const std::uint64_t bytes = at->file_size(gone);
    const fs::file_time_type used = at->last_write_time(gone);
    if (gone) continue;
    total += bytes;
    all.push_back({used, bytes, at->path()});
  }
  if (total <= most_bytes) return;
  // A little more than needed, so that not every run has to.
  const std::uint64_t goal = most_bytes - most_bytes / 5;
  std::ranges::sort(all, {}, &Kept::used);
  for (const Kept& kept : all) {
    if (total <= goal) return;
    if (fs::remove(kept.path, problem)) total -= kept.bytes;
  }
}

std::string default_cache_folder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder == '/') {
    return std::string(folder) + "/plumb";
  }
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/plumb" : std::string();
}

}  // namespace plumb::check
