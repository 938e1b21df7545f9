#include "trace/elf_module.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace plumb {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// A path in a trace may name a pipe or a device: those are neither waited for
// nor read.
Result<int> open_regular(const std::string& path) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.ok()) return fail(path, std::strerror(errno));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return fail(path, "not a regular file");
  if (info.st_size < static_cast<off_t>(sizeof(Elf64_Ehdr))) {
    return fail(path, "too short for an ELF file");
  }
  return fd.release();
}

// The header, and that the tables it points to are inside the file.
Result<void> check_header(const std::string& path, int fd) {
  Elf64_Ehdr header{};
  struct stat info{};
  if (::fstat(fd, &info) != 0 ||
      ::pread(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) {
    return fail(path, "cannot be read");
  }
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return fail(path, "not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64) {
    return fail(path, "not an ELF file of this kind of machine (x86-64)");
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return fail(path, "neither an executable nor a shared library");
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const auto fits = [size](std::uint64_t offset, std::uint64_t count, std::uint64_t entry) {
    return offset <= size && count * entry <= size - offset;
  };
  if (header.e_phnum == 0 || header.e_phentsize != sizeof(Elf64_Phdr) ||
      !fits(header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr))) {
    return fail(path, "damaged: its program headers are outside the file");
  }
  if (header.e_shoff != 0 && (header.e_shentsize != sizeof(Elf64_Shdr) ||
                              !fits(header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr)))) {
    return fail(path, "damaged: its section headers are outside the file");
  }
  return {};
}

std::string hex(const unsigned char* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::string build_id_of(Elf* elf) {
  const void* bits = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &bits);
  if (size <= 0 || bits == nullptr || size > 64) return {};
  return hex(static_cast<const unsigned char*>(bits), static_cast<std::size_t>(size));
}

std::string build_id_of(int fd) {
  Elf* elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, nullptr);
  std::string id = elf != nullptr ? build_id_of(elf) : std::string();
  elf_end(elf);
  return id;
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? 0xEDB88320U : 0);
    table[i] = value;
  }
  return table;
}

// The checksum that .gnu_debuglink gives for the whole debug file.
std::uint32_t crc_of(int fd) {
  static constexpr std::array<std::uint32_t, 256> kTable = make_crc_table();
  std::uint32_t crc = ~0U;
  std::vector<unsigned char> buffer(1 << 16);
  off_t at = 0;
  ssize_t count = 0;
  while ((count = ::pread(fd, buffer.data(), buffer.size(), at)) > 0) {
    for (ssize_t i = 0; i < count; ++i) {
      crc = kTable[(crc ^ buffer[static_cast<std::size_t>(i)]) & 0xff] ^ (crc >> 8);
    }
    at += count;
  }
  return ~crc;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                             &std::free);
  return resolved ? resolved.get() : path;
}

}  // namespace

std::string find_by_build_id(const std::string& build_id,
                             const std::vector<std::string>& directories) {
  if (build_id.size() < 6 || build_id.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return {};
  }
  for (const std::string& directory : directories) {
    const std::string path = fmt::format("{}/.build-id/{}/{}.debug", directory,
                                         build_id.substr(0, 2), build_id.substr(2));
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  return {};
}

// libdwfl asks this for the debug file of a module that has no DWARF itself,
// and for the file that several debug files share (dwz).
int ElfModule::find_debug_file(Dwfl_Module* module, void** userdata, const char* name,
                               Dwarf_Addr base, const char* file, const char* link, GElf_Word crc,
                               char** found) {
  const int by_id =
      dwfl_build_id_find_debuginfo(module, userdata, name, base, file, link, crc, found);
  if (by_id >= 0) return by_id;

  const auto* self = static_cast<const ElfModule*>(*userdata);
  // Without a checksum it is the shared file that is asked for, whose right
  // build-id only the library knows.
  if (link != nullptr && *link != '\0' && crc != 0 && file != nullptr) {
    const std::string directory = directory_of(real_path(file));
    const std::string link_name(base_name(link));
    std::vector<std::string> places = {directory + "/" + link_name,
                                       directory + "/.debug/" + link_name};
    for (const std::string& debug : self->debug_directories_) {
      places.push_back(fmt::format("{}{}/{}", debug, directory, link_name));
      places.push_back(fmt::format("{}/{}", debug, link_name));
    }
    for (const std::string& place : places) {
      Result<int> opened = open_regular(place);
      if (!opened) continue;
      FileDescriptor fd(*opened);
      if (!check_header(place, fd.get())) continue;
      const bool same = self->build_id_.empty() ? crc_of(fd.get()) == crc
                                                : build_id_of(fd.get()) == self->build_id_;
      if (!same) continue;
      std::free(*found);
      *found = ::strdup(place.c_str());
      return fd.release();
    }
  }
  if (self->debuginfod_) {
    return dwfl_standard_find_debuginfo(module, userdata, name, base, file, link, crc, found);
  }
  errno = 0;
  return -1;
}

Result<std::unique_ptr<ElfModule>> ElfModule::open(const std::string& path,
                                                   const SymboliserOptions& options) {
  elf_version(EV_CURRENT);
  Result<int> opened = open_regular(path);
  if (!opened) return std::unexpected(opened.error());
  FileDescriptor fd(*opened);
  if (Result<void> sane = check_header(path, fd.get()); !sane) {
    return std::unexpected(sane.error());
  }

  std::unique_ptr<ElfModule> self(new ElfModule);
  for (const std::string& directory : options.debug_directories) {
    // Relative ones mean something else to libdwfl, and ':' separates.
    if (!directory.starts_with('/') || directory.find(':') != std::string::npos) continue;
    self->debug_directories_.push_back(directory);
    self->search_path_ += (self->search_path_.empty() ? "" : ":") + directory;
  }
  self->search_path_pointer_ = self->search_path_.data();
  self->debuginfod_ = options.debuginfod;
  self->callbacks_.find_elf = [](Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) {
    return -1;
  };
  self->callbacks_.find_debuginfo = &ElfModule::find_debug_file;
  self->callbacks_.section_address = &dwfl_offline_section_address;
  self->callbacks_.debuginfo_path = &self->search_path_pointer_;

  const auto damaged = [&path] { return fail(path, fmt::format("damaged: {}", dwfl_errmsg(-1))); };
  self->session_ = dwfl_begin(&self->callbacks_);
  if (self->session_ == nullptr) return damaged();
  self->module_ = dwfl_report_offline(self->session_, path.c_str(), path.c_str(), fd.get());
  if (self->module_ == nullptr) return damaged();
  fd.release();  // the session's from here on
  void** userdata = nullptr;
  dwfl_module_info(self->module_, &userdata, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *userdata = self.get();
  if (dwfl_report_end(self->session_, nullptr, nullptr) != 0) return damaged();

  GElf_Addr bias = 0;
  self->elf_ = dwfl_module_getelf(self->module_, &bias);
  if (self->elf_ == nullptr) return damaged();
  self->bias_ = bias;
  self->build_id_ = build_id_of(self->elf_);

  std::size_t count = 0;
  if (elf_getphdrnum(self->elf_, &count) != 0) return damaged();
  for (std::size_t i = 0; i < count && i < INT_MAX; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(self->elf_, static_cast<int>(i), &header) == nullptr) continue;
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    if (header.p_memsz == 0 || header.p_vaddr + header.p_memsz < header.p_vaddr) continue;
    self->code_.push_back({header.p_vaddr, header.p_vaddr + header.p_memsz});
  }
  return self;
}

ElfModule::~ElfModule() {
  if (session_ != nullptr) dwfl_end(session_);
}

bool ElfModule::in_code(std::uint64_t address) const {
  for (const AddressRange& range : code_) {
    if (address >= range.begin && address < range.end) return true;
  }
  return false;
}

Dwarf* ElfModule::dwarf() {
  if (!dwarf_tried_) {
    dwarf_tried_ = true;
    Dwarf_Addr dwarf_bias = 0;
    dwarf_ = dwfl_module_getdwarf(module_, &dwarf_bias);
    if (dwarf_ != nullptr) dwarf_shift_ = bias_ - dwarf_bias;
  }
  return dwarf_;
}

}  // namespace plumb
