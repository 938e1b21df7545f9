#include "run/program.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb {

namespace {

// An interpreter may itself be a script; the kernel allows this many.
constexpr int kMaxInterpreters = 4;
constexpr std::size_t kMaxSegments = 1024;

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  // Up to `size` bytes; fewer at the end of the file.
  std::string read_at(std::uint64_t offset, std::size_t size) const {
    std::string bytes(size, '\0');
    std::size_t filled = 0;
    while (filled < size) {
      const ssize_t got =
          pread(fd_, bytes.data() + filled, size - filled, static_cast<off_t>(offset + filled));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
  }

 private:
  int fd_;
};

// "#! /usr/bin/env python3" -> "/usr/bin/env"
std::string interpreter_of(std::string_view line) {
  line.remove_prefix(2);
  line = line.substr(0, line.find('\n'));
  line = trim(line);
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

Result<void> check_rights(const std::string& path, const struct stat& info) {
  const bool other_user = (info.st_mode & S_ISUID) != 0 && info.st_uid != getuid();
  const bool other_group = (info.st_mode & S_ISGID) != 0 && info.st_gid != getgid();
  const bool capabilities =
      getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  if (!other_user && !other_group && !capabilities) return {};
  return fail(path, "runs with other rights than yours (setuid, setgid or capabilities)",
              "the loader then ignores preloaded libraries; run a copy without them, or run plumb "
              "as the user it runs as");
}

Result<void> check_elf(const std::string& path, const File& file, std::string_view head) {
  if (head.size() < sizeof(Elf64_Ehdr)) return fail(path, "cut off in the ELF header");
  if (head[EI_CLASS] != ELFCLASS64) {
    return fail(path, "a 32-bit program", "plumb run tracks x86-64 programs only");
  }
  Elf64_Ehdr header;
  std::memcpy(&header, head.data(), sizeof header);
  if (header.e_machine != EM_X86_64 || head[EI_DATA] != ELFDATA2LSB) {
    return fail(path, "a program for another machine", "plumb run tracks x86-64 programs only");
  }
  if (header.e_phnum > kMaxSegments || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return fail(path, "the ELF program header is damaged");
  }
  const std::string segments = file.read_at(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  for (std::size_t at = 0; at + sizeof(Elf64_Phdr) <= segments.size(); at += sizeof(Elf64_Phdr)) {
    Elf64_Phdr segment;
    std::memcpy(&segment, segments.data() + at, sizeof segment);
    if (segment.p_type != PT_INTERP) continue;
    const std::string loader =
        file.read_at(segment.p_offset, std::min<std::uint64_t>(segment.p_filesz, 4096));
    if (std::string_view(loader).find("ld-musl") != std::string_view::npos) {
      return fail(path, "linked with musl", "plumb run tracks programs that use glibc");
    }
    return {};
  }
  return fail(path, "statically linked: no library can be preloaded into it",
              "link it dynamically (without -static), or build it with plumb cc");
}

Result<void> check_level(const std::string& path, int level) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return fail(path, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return fail(path, "is a directory");
  if (access(path.c_str(), X_OK) != 0) {
    return fail(path, fmt::format("cannot be executed: {}", std::strerror(errno)));
  }
  if (Result<void> good = check_rights(path, info); !good) return good;
  const File file(path);
  if (!file.is_open()) return {};  // executable but not readable: let it run
  const std::string head = file.read_at(0, 256);
  if (head.starts_with(ELFMAG)) return check_elf(path, file, head);
  if (head.starts_with("#!")) {
    const std::string interpreter = interpreter_of(head);
    if (level >= kMaxInterpreters || interpreter.empty()) {
      return fail(path, "the script's first line names no program");
    }
    if (Result<void> good = check_level(interpreter, level + 1); !good) {
      good.error().what = fmt::format("{} (the interpreter of {})", good.error().what, path);
      return good;
    }
    return {};
  }
  return fail(path, "neither an ELF program nor a script that starts with #!",
              fmt::format("name its interpreter: plumb run -- sh {}", path));
}

}  // namespace

Result<void> check_program(const std::string& path) { return check_level(path, 0); }

}  // namespace plumb
