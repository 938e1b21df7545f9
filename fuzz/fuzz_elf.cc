// The symboliser on a file that may be anything. No crash, no endless work:
// whatever the bytes say, an address gets at least a bare frame.
//
// The file's first bytes are also what chooses the addresses, so that mutated
// line tables and ranges are reached at more than one place.
// Most mutations keep the headers and change one section only: otherwise
// nearly all inputs are refused at the door.
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "trace/symbolise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = memfd_create("fuzz_elf", MFD_CLOEXEC);
  if (fd < 0) return 0;
  if (::write(fd, data, size) != static_cast<ssize_t>(size)) {
    ::close(fd);
    return 0;
  }
  plumb::Module module;
  module.path = "/proc/self/fd/" + std::to_string(fd);
  plumb::SymboliserOptions options;
  options.debug_directories = {};  // nothing from this machine
  {
    plumb::Symboliser symbols({module}, options);
    for (std::uint64_t offset = 0; offset < 0x3000; offset += 61) {
      const auto& frames = symbols.frames({plumb::ModuleId::of(0), offset, false});
      PLUMB_CHECK(!frames.empty());
    }
    symbols.notes();
  }
  ::close(fd);
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  Elf64_Ehdr header;
  std::vector<std::pair<std::size_t, std::size_t>> sections;  // offset, size
  if (size >= sizeof header) {
    std::memcpy(&header, data, sizeof header);
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      if (header.e_shoff > size || size - header.e_shoff < (i + 1) * sizeof section) break;
      std::memcpy(&section, data + header.e_shoff + i * sizeof section, sizeof section);
      if (section.sh_type == SHT_NOBITS || section.sh_size == 0 || section.sh_offset >= size) {
        continue;
      }
      sections.emplace_back(section.sh_offset,
                            std::min<std::size_t>(section.sh_size, size - section.sh_offset));
    }
  }
  if (sections.empty() || random() % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const auto [begin, length] = sections[random() % sections.size()];
  // In place: what follows must stay where the headers say it is.
  const std::size_t part = std::min<std::size_t>(length, 1 + random() % 64);
  const std::size_t at = begin + random() % (length - part + 1);
  LLVMFuzzerMutate(data + at, part, part);
  return size;
}
