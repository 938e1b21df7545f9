#include "base/temporary_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace plumb {

Result<TemporaryFile> TemporaryFile::create(std::string_view ending) {
  const char* asked = std::getenv("TMPDIR");
  const std::string folder = asked && *asked == '/' ? asked : "/tmp";
  std::string path = fmt::format("{}/plumb-XXXXXX{}", folder, ending);
  const int opened = mkstemps(path.data(), static_cast<int>(ending.size()));
  if (opened < 0) {
    return fail(folder, std::strerror(errno),
                "a folder for temporary files is needed; TMPDIR names another one");
  }
  close(opened);
  return TemporaryFile(std::move(path));
}

TemporaryFile::TemporaryFile(std::string path) : path_(std::move(path)) {}
TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}
TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace plumb
