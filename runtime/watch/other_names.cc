#include "watch/other_names.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>

namespace plumb::rt {

namespace {

constexpr const char* kNames[] = {"dallocx", "sdallocx", "rallocx", "xallocx", "sallocx"};

const char* known_name(const char* name) {
  for (const char* known : kNames) {
    if (__builtin_strcmp(name, known) == 0) return known;
  }
  return nullptr;
}

struct Tables {
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  const Elf64_Rela* relocations[2] = {};
  uint64_t sizes[2] = {};
};

Tables tables_of(const link_map& module) {
  Tables tables;
  // The loader has made addresses of them, except where it may not write.
  const auto address = [&](uint64_t value) {
    return value < module.l_addr ? value + module.l_addr : value;
  };
  for (const Elf64_Dyn* entry = module.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const uint64_t at = address(entry->d_un.d_ptr);
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const Elf64_Sym*>(at);
        break;
      case DT_STRTAB:
        tables.names = reinterpret_cast<const char*>(at);
        break;
      case DT_RELA:
        tables.relocations[0] = reinterpret_cast<const Elf64_Rela*>(at);
        break;
      case DT_RELASZ:
        tables.sizes[0] = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        tables.relocations[1] = reinterpret_cast<const Elf64_Rela*>(at);
        break;
      case DT_PLTRELSZ:
        tables.sizes[1] = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  return tables;
}

const char* called_by(const link_map& module) {
  if (module.l_ld == nullptr) return nullptr;
  const Tables tables = tables_of(module);
  if (tables.symbols == nullptr || tables.names == nullptr) return nullptr;
  for (int kind = 0; kind < 2; ++kind) {
    if (tables.relocations[kind] == nullptr) continue;
    const uint64_t count = tables.sizes[kind] / sizeof(Elf64_Rela);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t index = ELF64_R_SYM(tables.relocations[kind][i].r_info);
      // jemalloc's own are defined where they are.
      if (index == 0 || tables.symbols[index].st_shndx != SHN_UNDEF) continue;
      const char* known = known_name(tables.names + tables.symbols[index].st_name);
      if (known != nullptr) return known;
    }
  }
  return nullptr;
}

}  // namespace

bool find_other_call(OtherCall& found) {
  bool any = false;
  for (const char* name : kNames) any = any || dlsym(RTLD_DEFAULT, name) != nullptr;
  dl_find_object here{};
  if (!any || _dl_find_object(reinterpret_cast<void*>(&find_other_call), &here) != 0) return false;
  const link_map* module = here.dlfo_link_map;
  while (module->l_prev != nullptr) module = module->l_prev;
  for (; module != nullptr; module = module->l_next) {
    if (const char* function = called_by(*module); function != nullptr) {
      found = {module->l_name, function};
      return true;
    }
  }
  return false;
}

}  // namespace plumb::rt
