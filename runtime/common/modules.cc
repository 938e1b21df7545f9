#include "common/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "common/memory.h"
#include "common/spin_lock.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/trace_file.h"
#include "common/watcher.h"

namespace plumb::rt {

uint32_t current_module_epoch = 1;

namespace {

SpinLock modules_lock;
uint32_t count = 0;               // modules in the trace
const link_map** maps = nullptr;  // the loader's name for each of them

uint32_t put_string(const char* text, uint32_t size) {
  const uint64_t at = trace().take(PLUMB_SECTION_STRINGS, size);
  if (at == 0) return 0;
  for (uint32_t i = 0; i < size; ++i) trace().strings()[at + i] = text[i];
  return static_cast<uint32_t>(at);
}

// The loader names the executable by "" and others as they were asked for.
uint32_t full_path(const char* name, char* path, size_t room) {
  size_t used = 0;
  if (name[0] == 0) {
    // Valgrind answers for the program at this one path only; otherwise it is
    // empty once the first thread has ended.
    const char* link = watching() ? "/proc/self/exe" : "/proc/thread-self/exe";
    const long got = sys_call(SYS_readlink, reinterpret_cast<long>(link),
                              reinterpret_cast<long>(path), static_cast<long>(room));
    return got > 0 ? static_cast<uint32_t>(got) : 0;
  }
  if (name[0] != '/') {
    const long got =
        sys_call(SYS_getcwd, reinterpret_cast<long>(path), static_cast<long>(room - 1));
    if (got > 1) {
      used = static_cast<size_t>(got) - 1;
      path[used++] = '/';
    }
  }
  while (*name != 0 && used < room) path[used++] = *name++;
  return static_cast<uint32_t>(used);
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
    module.end_epoch = current_module_epoch + 1;
    changed = true;
  }
  if (changed) __atomic_store_n(&current_module_epoch, current_module_epoch + 1, __ATOMIC_RELEASE);
}

// Pages of code that were looked up already in this epoch.
constexpr size_t kSeen = 4096;
uint64_t seen[kSeen];

uint64_t seen_key(uintptr_t address) { return ((address / kPage) << 24) ^ module_epoch(); }
uint64_t& seen_place(uintptr_t address) {
  return seen[(address / kPage * 0x9e3779b97f4a7c15u) >> 52];
}

// The same file at the same place again, after a dlclose: addresses mean what
// they meant. 0: none.
uint32_t find_ended(const PlumbModule& module, const char* path) {
  for (uint32_t i = 1; i <= count; ++i) {
    const PlumbModule& other = trace().modules()[i];
    if (other.end_epoch != 0 && other.bias == module.bias && other.start == module.start &&
        other.end == module.end && other.path_size == module.path_size &&
        other.build_id_size == module.build_id_size &&
        __builtin_memcmp(other.build_id, module.build_id, module.build_id_size) == 0 &&
        __builtin_memcmp(trace().strings() + other.path, path, module.path_size) == 0) {
      return i;
    }
  }
  return 0;
}

void put_module(const dl_find_object& object) {
  char path[4096];
  PlumbModule module{};
  module.start = reinterpret_cast<uintptr_t>(object.dlfo_map_start);
  module.end = reinterpret_cast<uintptr_t>(object.dlfo_map_end);
  module.bias = object.dlfo_link_map->l_addr;
  module.first_epoch = current_module_epoch;
  module.path_size = full_path(object.dlfo_link_map->l_name, path, sizeof path);
  put_build_id(module, object);
  if (const uint32_t again = find_ended(module, path); again != 0) {
    trace().modules()[again].end_epoch = 0;
    maps[again] = object.dlfo_link_map;
    return;
  }
  const uint64_t index = trace().take(PLUMB_SECTION_MODULES, 1);
  if (index == 0) {
    trace().limit(PLUMB_LIMIT_MODULES_FULL);
    return;
  }
  module.path = put_string(path, module.path_size);
  if (module.path == 0) module.path_size = 0;
  maps[index] = object.dlfo_link_map;
  count = static_cast<uint32_t>(index);
  trace().modules()[index] = module;
  __atomic_store_n(&trace().modules()[index].state, 1, __ATOMIC_RELEASE);
}

// The lock is held.
void look_up(uintptr_t address) {
  if (maps == nullptr) {
    const uint64_t capacity = trace().header().sections[PLUMB_SECTION_MODULES].capacity;
    maps = static_cast<const link_map**>(own_pages(capacity * sizeof *maps));
    if (maps == nullptr) return;
  }
  for (uint32_t i = 1; i <= count; ++i) {
    const PlumbModule& module = trace().modules()[i];
    if (module.end_epoch != 0 || address < module.start || address >= module.end) continue;
    if (still_there(module, maps[i])) return;
    end_unloaded();
    break;
  }
  dl_find_object object{};
  if (_dl_find_object(reinterpret_cast<void*>(address), &object) == 0) put_module(object);
}

}  // namespace

void modules_changed(Inside&) {
  modules_lock.lock();
  end_unloaded();
  modules_lock.unlock();
}

void hold_modules() { modules_lock.lock(); }
void let_go_modules() { modules_lock.unlock(); }

const PlumbModule* module_of(Inside& in, uintptr_t address) {
  note_module(in, address);
  for (uint32_t i = 1; i <= count; ++i) {
    const PlumbModule& module = trace().modules()[i];
    if (module.end_epoch == 0 && address >= module.start && address < module.end) return &module;
  }
  return nullptr;
}

void note_module(Inside&, uintptr_t address) {
  const uint64_t key = seen_key(address);
  uint64_t& place = seen_place(address);
  if (__atomic_load_n(&place, __ATOMIC_RELAXED) == key) return;
  modules_lock.lock();
  look_up(address);
  modules_lock.unlock();
  // The key of before: if a module went meanwhile, it is looked up again.
  __atomic_store_n(&place, key, __ATOMIC_RELAXED);
}

}  // namespace plumb::rt
