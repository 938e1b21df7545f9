// Libraries that are loaded with RTLD_DEEPBIND (PHP loads all of its extensions so) find
// libc's functions before ours, and would give blocks of ours to glibc, which ends the
// program. What they were bound to is therefore set to ours when they have been loaded.
//
// Limits: what such a library frees while it is being loaded is its own (libc's allocator
// serves the thread meanwhile; a constructor that loads another one in this way ends that
// early). Where the caller's own search path may decide what is loaded, the flag is left
// out: the call must come from the caller then, and we learn nothing of it.

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>

#include "common/deep_binding.h"
#include "common/memory.h"
#include "common/own_malloc.h"
#include "common/relocations.h"
#include "common/sys.h"

using namespace plumb::rt;

static_assert(RTLD_DEEPBIND == 8);

namespace {

struct Function {
  const char* name;
  void* ours;
};
// Both ways: a block that libc's malloc gave is free to go through ours.
const Function kFunctions[] = {
    {"malloc", reinterpret_cast<void*>(&malloc)},
    {"calloc", reinterpret_cast<void*>(&calloc)},
    {"realloc", reinterpret_cast<void*>(&realloc)},
    {"reallocarray", reinterpret_cast<void*>(&reallocarray)},
    {"memalign", reinterpret_cast<void*>(&memalign)},
    {"aligned_alloc", reinterpret_cast<void*>(&aligned_alloc)},
    {"posix_memalign", reinterpret_cast<void*>(&posix_memalign)},
    {"valloc", reinterpret_cast<void*>(&valloc)},
    {"pvalloc", reinterpret_cast<void*>(&pvalloc)},
    {"free", reinterpret_cast<void*>(&free)},
    {"malloc_usable_size", reinterpret_cast<void*>(&malloc_usable_size)},
};

const Function* function_of(const char* name) {
  for (const Function& function : kFunctions) {
    if (__builtin_strcmp(name, function.name) == 0) return &function;
  }
  return nullptr;
}

// The part of a module that the loader made read-only.
Range relro_of(const link_map& module) {
  struct Sought {
    uintptr_t base;
    Range found;
  } sought{module.l_addr, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto& wanted = *static_cast<Sought*>(argument);
        if (info->dlpi_addr != wanted.base) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const Elf64_Phdr& part = info->dlpi_phdr[i];
          if (part.p_type != PT_GNU_RELRO) continue;
          const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          wanted.found = {page_down(begin), page_down(begin + part.p_memsz)};
        }
        return 1;
      },
      &sought);
  return sought.found;
}

void set_slot(void** slot, void* value, const Range& relro) {
  const auto at = reinterpret_cast<uintptr_t>(slot);
  if (at < relro.begin || at >= relro.end) {
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    return;
  }
  const auto page = static_cast<long>(page_down(at));
  if (sys_call(SYS_mprotect, page, kPage, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  sys_call(SYS_mprotect, page, kPage, PROT_READ);
}

// A slot that was not bound yet leads into the module itself.
void bind_to_us(void* handle, const link_map& module) {
  const Range relro = relro_of(module);
  Relocations(module).for_each([&](const char* name, void** slot) {
    const Function* function = function_of(name);
    if (function == nullptr || *slot == function->ours) return true;
    dl_find_object place{};
    const bool is_bound = _dl_find_object(*slot, &place) != 0 || place.dlfo_link_map != &module;
    if (is_libc(is_bound ? *slot : dlsym(handle, name))) set_slot(slot, function->ours, relro);
    return true;
  });
}

using Dlopen = void* (*)(const char*, int);

}  // namespace

extern "C" {
__attribute__((used, visibility("hidden"))) void* plumb_rt_real_dlopen;

// Does it matter who calls? A name without a slash is looked for in the caller's path.
__attribute__((used, visibility("hidden"))) bool plumb_rt_needs_caller(const char* name, int,
                                                                       void* caller) {
  if (name == nullptr) return false;
  bool is_path = false;
  for (const char* at = name; *at != 0; ++at) {
    if (*at == '$') return true;
    is_path = is_path || *at == '/';
  }
  dl_find_object place{};
  if (is_path || _dl_find_object(caller, &place) != 0) return !is_path;
  for (const Elf64_Dyn* entry = place.dlfo_link_map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_RUNPATH || entry->d_tag == DT_RPATH) return true;
  }
  return false;
}

__attribute__((used, visibility("hidden"))) void* plumb_rt_deep_dlopen(const char* name,
                                                                       int flags) {
  const DeepLoad load;
  void* handle = reinterpret_cast<Dlopen>(plumb_rt_real_dlopen)(name, flags);
  if (handle == nullptr || !has_blocks_of_its_own()) return handle;
  // What came with it comes behind it.
  for (auto* module = static_cast<link_map*>(handle); module != nullptr; module = module->l_next) {
    bind_to_us(handle, *module);
  }
  return handle;
}
}

extern "C" __attribute__((visibility("default"), naked)) void* dlopen(const char*, int) noexcept {
  __asm__(
      "testl $8, %esi\n\t"  // RTLD_DEEPBIND
      "je 1f\n\t"
      "pushq %rdi\n\tpushq %rsi\n\tsubq $8, %rsp\n\t"
      "movq 24(%rsp), %rdx\n\t"
      "call plumb_rt_needs_caller\n\t"
      "addq $8, %rsp\n\tpopq %rsi\n\tpopq %rdi\n\t"
      "testb %al, %al\n\t"
      "jz plumb_rt_deep_dlopen\n\t"
      "andl $~8, %esi\n"
      "1:\n\t"
      "jmp *plumb_rt_real_dlopen(%rip)");
}

static __attribute__((constructor)) void find_dlopen() {
  plumb_rt_real_dlopen = dlsym(RTLD_NEXT, "dlopen");
}
