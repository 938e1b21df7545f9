#include "trace/debug_package.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace plumb {
namespace {

// A file may be listed under the name it had before /lib became /usr/lib.
std::vector<std::string> names_of(const std::string& path) {
  std::vector<std::string> names = {path};
  std::error_code ignored;
  const std::string real = std::filesystem::canonical(path, ignored).string();
  if (!real.empty() && real != path) names.push_back(real);
  for (std::size_t i = 0, count = names.size(); i < count; ++i) {
    if (names[i].starts_with("/usr/")) names.push_back(names[i].substr(4));
  }
  return names;
}

// Each line of the file ends a line and begins the next: "\nLINE\nLINE\n".
void read_lines(const char* path, std::string& text) {
  text = "\n";
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char buffer[1 << 16];
  ssize_t count = 0;
  while ((count = ::read(fd, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(fd);
}

}  // namespace

std::string debug_package_of(const std::string& path, const std::string& dpkg_info) {
  std::vector<std::string> lines = names_of(path);
  for (std::string& line : lines) line = fmt::format("\n{}\n", line);
  std::string text;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dpkg_info, error)) {
    if (entry.path().extension() != ".list") continue;
    read_lines(entry.path().c_str(), text);
    const auto listed = [&text](const std::string& line) {
      // Not find(): it stops at each '\n', of which there are many.
      return ::memmem(text.data(), text.size(), line.data(), line.size()) != nullptr;
    };
    if (std::ranges::none_of(lines, listed)) continue;
    std::string package = entry.path().stem().string();
    package.resize(std::min(package.find(':'), package.size()));
    // glibc's debug files have always had a package of their own.
    return package == "libc6" ? "libc6-dbg" : package + "-dbgsym";
  }
  return {};
}

}  // namespace plumb
