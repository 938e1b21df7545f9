#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace plumb {

namespace {

std::unexpected<Error> system_failure(const std::string& path, const char* verb) {
  return fail(path, fmt::format("cannot {}: {}", verb, std::strerror(errno)));
}

// A file descriptor that is closed once, whatever happens.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close_now(); }

  bool valid() const { return number_ >= 0; }
  int number() const { return number_; }
  // False when what was written before could not be kept.
  bool close_now() { return number_ < 0 || close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

Result<std::string> read_all(int file, const std::string& path) {
  // The size is a guess: it can change, and a sparse file can claim anything.
  constexpr off_t kLargestGuess = off_t{1} << 30;
  std::string content;
  struct stat info{};
  if (fstat(file, &info) == 0 && info.st_size > 0 && info.st_size <= kLargestGuess) {
    content.reserve(static_cast<std::size_t>(info.st_size));
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(path, "read");
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

Result<void> write_all(int file, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t put = write(file, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_failure(path, "write");
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

// Devices and pipes cannot be replaced by a rename: write into them.
Result<void> write_into(const std::string& path, std::string_view content) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return system_failure(path, "write");
  if (Result<void> done = write_all(file.number(), content, path); !done) return done;
  if (!file.close_now()) return system_failure(path, "write");
  return {};
}

// A new file of the name, never one that somebody put there before.
int open_new(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const int file = open(path.c_str(), kFlags, 0666);
  if (file >= 0 || errno != EEXIST) return file;
  // Left behind by a process of the same number that was killed.
  unlink(path.c_str());
  return open(path.c_str(), kFlags, 0666);
}

// The file that a symbolic link leads to: a rename would replace the link.
std::string target_of(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> target(realpath(path.c_str(), nullptr),
                                                           &std::free);
  return target ? std::string(target.get()) : path;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  try {
    if (path == "-") return read_all(STDIN_FILENO, path);
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return system_failure(path, "open");
    return read_all(file.number(), path);
  } catch (const std::bad_alloc&) {
    return fail(path, "cannot read: it is larger than the memory");
  } catch (const std::length_error&) {
    return fail(path, "cannot read: it is larger than the memory");
  }
}

Result<void> write_file(const std::string& path, std::string_view content) {
  struct stat info{};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) return write_into(path, content);

  const std::string target = exists ? target_of(path) : path;
  const std::string temporary = fmt::format("{}.{}.tmp", target, getpid());
  Descriptor file(open_new(temporary));
  if (!file.valid()) return system_failure(path, "write");
  // Who may read the old file may read the new one, as far as we can tell.
  if (exists) static_cast<void>(fchmod(file.number(), info.st_mode & 0777));
  Result<void> done = write_all(file.number(), content, path);
  if (done && (!file.close_now() || rename(temporary.c_str(), target.c_str()) != 0)) {
    done = system_failure(path, "write");
  }
  if (!done) unlink(temporary.c_str());
  return done;
}

}  // namespace plumb
