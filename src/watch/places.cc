#include "watch/places.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace plumb {

Result<std::string> watch_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  struct stat info{};
  const bool usable = runtime != nullptr && runtime[0] == '/' && stat(runtime, &info) == 0 &&
                      info.st_uid == geteuid();
  const std::string path =
      usable ? fmt::format("{}/plumb", runtime) : fmt::format("/tmp/plumb-{}", geteuid());
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(path, fmt::format("cannot be made: {}", std::strerror(errno)));
  }
  if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & 077) != 0) {
    return fail(path, "is not a directory of yours alone",
                fmt::format("remove it, or make it private: chmod 700 {}", path));
  }
  return path;
}

}  // namespace plumb
