#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace plumb {

namespace {

std::unexpected<Error> system_failure(const std::string& path, const char* verb) {
  return fail(path, fmt::format("cannot {}: {}", verb, std::strerror(errno)));
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const bool standard = path == "-";
  const int file = standard ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_failure(path, "open");
  std::string content;
  struct stat info{};
  if (fstat(file, &info) == 0 && info.st_size > 0) {
    content.reserve(static_cast<std::size_t>(info.st_size));
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      auto failure = system_failure(path, "read");
      if (!standard) close(file);
      return failure;
    }
    if (got == 0) break;
    content.append(buffer, static_cast<std::size_t>(got));
  }
  if (!standard) close(file);
  return content;
}

Result<void> write_file(const std::string& path, std::string_view content) {
  // Devices and pipes cannot be replaced by a rename: write into them.
  struct stat info{};
  const bool special = stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  const std::string temporary = special ? path : fmt::format("{}.{}.tmp", path, getpid());
  const int flags = special ? O_WRONLY : O_WRONLY | O_CREAT | O_TRUNC;
  const int file = open(temporary.c_str(), flags | O_CLOEXEC, 0666);
  if (file < 0) return system_failure(path, "write");
  while (!content.empty()) {
    const ssize_t put = write(file, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      auto failure = system_failure(path, "write");
      close(file);
      if (!special) unlink(temporary.c_str());
      return failure;
    }
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  if (close(file) != 0) return system_failure(path, "write");
  if (!special && rename(temporary.c_str(), path.c_str()) != 0) {
    auto failure = system_failure(path, "write");
    unlink(temporary.c_str());
    return failure;
  }
  return {};
}

}  // namespace plumb
