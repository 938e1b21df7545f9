#include "base/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace plumb {

namespace {

// The content of a regular file of at most `limit` bytes; empty otherwise.
std::string read_regular(const std::string& path, std::size_t limit) {
  // Without O_NONBLOCK opening a pipe would wait for its writer.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {};
  struct stat info{};
  std::string text;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
      static_cast<std::uint64_t>(info.st_size) <= limit) {
    text.resize(static_cast<std::size_t>(info.st_size));
    std::size_t have = 0;
    while (have < text.size()) {
      const ssize_t got = read(file, text.data() + have, text.size() - have);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    text.resize(have);
  }
  close(file);
  return text;
}

}  // namespace

const SourceCache::File& SourceCache::load(const std::string& file) {
  const auto [at, fresh] = files_.try_emplace(file);
  File& entry = at->second;
  if (!fresh || file.find('\0') != std::string::npos) return entry;

  std::string text = read_regular(file, std::min(kLargestFile, kLargestSum - sum_));
  if (text.find('\0') != std::string::npos) return entry;  // no source text has it
  const auto breaks = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (text.empty() || breaks >= kMostLines) return entry;

  entry.starts.reserve(breaks + 1);
  for (std::size_t start = 0; start < text.size();) {
    entry.starts.push_back(static_cast<std::uint32_t>(start));
    const std::size_t end = text.find('\n', start);
    start = end == std::string::npos ? text.size() : end + 1;
  }
  sum_ += text.size();
  entry.text = std::move(text);
  return entry;
}

bool SourceCache::has(const std::string& file) { return !load(file).starts.empty(); }

bool SourceCache::has_line(const std::string& file, std::uint32_t number) {
  return number > 0 && number <= load(file).starts.size();
}

std::string_view SourceCache::line(const std::string& file, std::uint32_t number) {
  const File& entry = load(file);
  if (number == 0 || number > entry.starts.size()) return {};
  const std::size_t start = entry.starts[number - 1];
  const std::size_t end = number < entry.starts.size() ? entry.starts[number] : entry.text.size();
  std::string_view text = std::string_view(entry.text).substr(start, end - start);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace plumb
