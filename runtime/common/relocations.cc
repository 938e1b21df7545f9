#include "common/relocations.h"

namespace plumb::rt {

Relocations::Relocations(const link_map& module) : base_(module.l_addr) {
  if (module.l_ld == nullptr) return;
  // The loader has made addresses of them, except where it may not write.
  const auto address = [&](uint64_t value) {
    return value < module.l_addr ? value + module.l_addr : value;
  };
  for (const Elf64_Dyn* entry = module.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const uint64_t at = address(entry->d_un.d_ptr);
    switch (entry->d_tag) {
      case DT_SYMTAB:
        symbols_ = reinterpret_cast<const Elf64_Sym*>(at);
        break;
      case DT_STRTAB:
        names_ = reinterpret_cast<const char*>(at);
        break;
      case DT_RELA:
        tables_[0].begin = reinterpret_cast<const Elf64_Rela*>(at);
        break;
      case DT_RELASZ:
        tables_[0].size = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        tables_[1].begin = reinterpret_cast<const Elf64_Rela*>(at);
        break;
      case DT_PLTRELSZ:
        tables_[1].size = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
}

}  // namespace plumb::rt
