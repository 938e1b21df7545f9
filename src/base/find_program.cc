#include "base/find_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb {

Result<std::string> find_program(const std::string& name) {
  if (name.empty()) return fail({}, "the program's name is empty");
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), F_OK) != 0) return fail(name, std::strerror(errno));
    return name;
  }
  const char* path = std::getenv("PATH");
  std::optional<std::string> refused;
  for (const std::string_view folder :
       split(path == nullptr ? "/usr/local/bin:/bin:/usr/bin" : path, ':')) {
    std::string candidate = folder.empty() ? "./" + name : fmt::format("{}/{}", folder, name);
    struct stat info{};
    if (stat(candidate.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) continue;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (!refused) refused = std::move(candidate);
  }
  if (refused) return fail(*refused, "cannot be executed: Permission denied");
  if (access(name.c_str(), X_OK) == 0) {
    return fail(name, "no such program in PATH",
                fmt::format("for the one in this directory, write ./{}", name));
  }
  return fail(name, "no such program in PATH");
}

Result<std::string> find_clang(bool cxx) {
  const std::string name = cxx ? "clang++-19" : "clang-19";
  if (const Result<std::string> found = find_program(name)) return *found;
  const std::string beside = cxx ? "/usr/lib/llvm-19/bin/clang++" : "/usr/lib/llvm-19/bin/clang";
  if (access(beside.c_str(), X_OK) == 0) return beside;
  return fail(name, "not found", "apt install clang-19");
}

}  // namespace plumb
