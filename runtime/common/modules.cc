#include "common/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "common/memory.h"
#include "common/spin_lock.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/trace_file.h"

namespace plumb::rt {

namespace {

uint32_t epoch = 1;
SpinLock modules_lock;
uint32_t count = 0;              // modules in the trace
const link_map** maps = nullptr;  // the loader's name for each of them

uint32_t put_string(const char* text, uint32_t size) {
  const uint64_t at = trace().take(PLUMB_SECTION_STRINGS, size);
  if (at == 0) return 0;
  for (uint32_t i = 0; i < size; ++i) trace().strings()[at + i] = text[i];
  return static_cast<uint32_t>(at);
}

// The loader names the executable by "" and others as they were asked for.
uint32_t put_path(const char* name, uint32_t* size) {
  char path[4096];
  size_t used = 0;
  if (name[0] == 0) {
    const long got = sys_call(SYS_readlink, reinterpret_cast<long>("/proc/thread-self/exe"),
                              reinterpret_cast<long>(path), sizeof path);
    if (got > 0) used = static_cast<size_t>(got);
  } else {
    if (name[0] != '/') {
      const long got = sys_call(SYS_getcwd, reinterpret_cast<long>(path), sizeof path - 1);
      if (got > 1) {
        used = static_cast<size_t>(got) - 1;
        path[used++] = '/';
      }
    }
    while (*name != 0 && used < sizeof path) path[used++] = *name++;
  }
  *size = static_cast<uint32_t>(used);
  return put_string(path, *size);
}

// From the notes that are mapped with the module.
void put_build_id(PlumbModule& module, const dl_find_object& object) {
  const auto* header = static_cast<const ElfW(Ehdr)*>(object.dlfo_map_start);
  if (__builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const uintptr_t start = reinterpret_cast<uintptr_t>(object.dlfo_map_start);
  const uintptr_t end = reinterpret_cast<uintptr_t>(object.dlfo_map_end);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(start + header->e_phoff);
  if (header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > kPage) return;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    uintptr_t at = object.dlfo_link_map->l_addr + segments[i].p_vaddr;
    const uintptr_t stop = at + segments[i].p_memsz;
    if (at < start || stop > end) continue;
    while (at + sizeof(ElfW(Nhdr)) <= stop) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const uintptr_t name = at + sizeof *note;
      const uintptr_t content = name + ((note->n_namesz + 3u) & ~3u);
      at = content + ((note->n_descsz + 3u) & ~3u);
      if (at > stop) break;
      if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 ||
          __builtin_memcmp(reinterpret_cast<const char*>(name), "GNU", 4) != 0) {
        continue;
      }
      module.build_id_size =
          note->n_descsz < PLUMB_BUILD_ID_MAX ? note->n_descsz : PLUMB_BUILD_ID_MAX;
      __builtin_memcpy(module.build_id, reinterpret_cast<const void*>(content),
                       module.build_id_size);
      return;
    }
  }
}

bool still_there(const PlumbModule& module, const link_map* map) {
  dl_find_object object{};
  return _dl_find_object(reinterpret_cast<void*>(module.start), &object) == 0 &&
         object.dlfo_link_map == map && object.dlfo_link_map->l_addr == module.bias &&
         reinterpret_cast<uintptr_t>(object.dlfo_map_start) == module.start &&
         reinterpret_cast<uintptr_t>(object.dlfo_map_end) == module.end;
}

// Ends the modules that are not where they were. The lock is held.
void end_unloaded() {
  bool changed = false;
  for (uint32_t i = 1; i <= count; ++i) {
    PlumbModule& module = trace().modules()[i];
    if (module.end_epoch != 0 || still_there(module, maps[i])) continue;
    module.end_epoch = epoch + 1;
    changed = true;
  }
  if (changed) __atomic_store_n(&epoch, epoch + 1, __ATOMIC_RELEASE);
}

}  // namespace

uint32_t module_epoch() { return __atomic_load_n(&epoch, __ATOMIC_ACQUIRE); }

void modules_changed(Inside&) {
  modules_lock.lock();
  end_unloaded();
  modules_lock.unlock();
}

void note_module(Inside&, uintptr_t address) {
  modules_lock.lock();
  if (maps == nullptr) {
    const uint64_t capacity = trace().header().sections[PLUMB_SECTION_MODULES].capacity;
    maps = static_cast<const link_map**>(own_pages(capacity * sizeof *maps));
  }
  for (uint32_t i = 1; i <= count; ++i) {
    const PlumbModule& module = trace().modules()[i];
    if (module.end_epoch == 0 && address >= module.start && address < module.end) {
      const bool there = still_there(module, maps[i]);
      if (!there) end_unloaded();
      if (there) {
        modules_lock.unlock();
        return;
      }
      break;
    }
  }
  dl_find_object object{};
  if (maps != nullptr && _dl_find_object(reinterpret_cast<void*>(address), &object) == 0) {
    const uint64_t index = trace().take(PLUMB_SECTION_MODULES, 1);
    if (index == 0) {
      trace().limit(PLUMB_LIMIT_MODULES_FULL);
    } else {
      PlumbModule& module = trace().modules()[index];
      module.start = reinterpret_cast<uintptr_t>(object.dlfo_map_start);
      module.end = reinterpret_cast<uintptr_t>(object.dlfo_map_end);
      module.bias = object.dlfo_link_map->l_addr;
      module.first_epoch = epoch;
      module.path = put_path(object.dlfo_link_map->l_name, &module.path_size);
      put_build_id(module, object);
      maps[index] = object.dlfo_link_map;
      count = static_cast<uint32_t>(index);
      __atomic_store_n(&module.state, 1, __ATOMIC_RELEASE);
    }
  }
  modules_lock.unlock();
}

}  // namespace plumb::rt
