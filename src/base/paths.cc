#include "base/paths.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include <fmt/format.h>

namespace plumb {

namespace {

// How far up a build tree's test programs have to look.
constexpr int kMaxLevels = 5;

constexpr std::string_view kFolders[] = {"lib/plumb", "lib/x86_64-linux-gnu/plumb", "lib64/plumb"};

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

Result<std::string> executable_path() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size < 0) {
    return fail("/proc/self/exe", fmt::format("cannot read: {}", std::strerror(errno)),
                "plumb needs /proc");
  }
  return std::string(path, static_cast<std::size_t>(size));
}

std::vector<std::string> support_candidates(std::string_view executable, std::string_view name) {
  std::vector<std::string> candidates;
  std::string_view folder = parent_of(executable);
  for (int level = 0; level < kMaxLevels && !folder.empty(); ++level) {
    folder = parent_of(folder);
    for (const std::string_view sub : kFolders) {
      candidates.push_back(fmt::format("{}/{}/{}", folder, sub, name));
    }
  }
  return candidates;
}

Result<std::string> support_file(std::string_view name) {
  const Result<std::string> executable = executable_path();
  if (!executable) return std::unexpected(executable.error());
  const std::vector<std::string> candidates = support_candidates(*executable, name);
  for (const std::string& candidate : candidates) {
    if (access(candidate.c_str(), R_OK) == 0) return candidate;
  }
  return fail(std::string(name), "not found beside the plumb command",
              candidates.empty()
                  ? "install plumb again"
                  : fmt::format("it belongs at {}; install plumb again, or build the "
                                "whole tree",
                                candidates.front()));
}

Result<std::string> preload_library(std::string_view name) {
  Result<std::string> path = support_file(name);
  if (path && path->find_first_of(" :") != std::string::npos) {
    return fail(*path, "the loader cannot preload a library whose path has a space or a colon",
                "install plumb elsewhere");
  }
  return path;
}

}  // namespace plumb
