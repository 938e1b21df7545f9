// The places in a loaded module that the loader filled with the addresses of functions
// and variables of other modules.
#pragma once

#include <elf.h>
#include <link.h>
#include <stdint.h>

namespace plumb::rt {

class Relocations {
 public:
  explicit Relocations(const link_map& module);

  // Calls use(name, slot) for each symbol that the module takes from elsewhere, until it
  // says false.
  template <typename Use>
  void for_each(Use use) const {
    if (symbols_ == nullptr || names_ == nullptr) return;
    for (const Table& table : tables_) {
      for (uint64_t i = 0; table.begin != nullptr && i < table.size / sizeof(Elf64_Rela); ++i) {
        const Elf64_Rela& each = table.begin[i];
        const uint64_t index = ELF64_R_SYM(each.r_info);
        if (index == 0 || symbols_[index].st_shndx != SHN_UNDEF) continue;
        auto** slot = reinterpret_cast<void**>(base_ + each.r_offset);
        if (!use(names_ + symbols_[index].st_name, slot)) return;
      }
    }
  }

 private:
  struct Table {
    const Elf64_Rela* begin = nullptr;
    uint64_t size = 0;
  };
  uintptr_t base_ = 0;
  const Elf64_Sym* symbols_ = nullptr;
  const char* names_ = nullptr;
  Table tables_[2];
};

}  // namespace plumb::rt
