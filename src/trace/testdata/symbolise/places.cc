// Calls mark() at places whose names and lines the tests know by the text of
// the call. mark() prints its tag, the module of the caller and the caller's
// return address minus the module's load bias.
#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#ifdef AS_LIBRARY
extern "C" void mark(const char* tag);
#else
namespace {
struct Query {
  std::uintptr_t address;
  const char* tag;
};
int print_if_inside(dl_phdr_info* info, std::size_t, void* data) {
  const auto* query = static_cast<Query*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && query->address >= begin &&
        query->address < begin + header.p_memsz) {
      const char* name = info->dlpi_name[0] != 0 ? info->dlpi_name : "-";
      std::printf("%s %s %zx\n", query->tag, name, query->address - info->dlpi_addr);
      return 1;
    }
  }
  return 0;
}
}  // namespace

extern "C" __attribute__((noinline)) void mark(const char* tag) {
  Query query{reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), tag};
  dl_iterate_phdr(&print_if_inside, &query);
}
#endif

#define HOLD asm volatile("" ::: "memory")  // no tail call, no merging

namespace shop {

static inline __attribute__((always_inline)) void innermost(int) {
  mark("inlined"); HOLD;
}

inline __attribute__((always_inline)) void middle(int x) {
  innermost(x); HOLD;  // calls innermost
}

__attribute__((noinline)) void outer(int x) {
  HOLD;
  middle(x + 1); HOLD;  // calls middle
}

template <typename T>
__attribute__((noinline)) void generic(T) {
  mark("template"); HOLD;
}

class Till {
 public:
  void open(int amount);
};

__attribute__((noinline)) void Till::open(int) {
  mark("method"); HOLD;
}

namespace {
__attribute__((noinline)) void secret(double) {
  mark("anonymous"); HOLD;
}
}  // namespace

extern "C" __attribute__((noinline)) void plain_c(int) {
  mark("extern-c"); HOLD;
}

}  // namespace shop

extern "C" __attribute__((noinline)) void visit(int x) {
  shop::outer(x); HOLD;
  shop::generic<char>('a'); HOLD;
  shop::Till().open(1); HOLD;
  shop::secret(1.5); HOLD;
  shop::plain_c(1); HOLD;
  mark("visit"); HOLD;
}

#ifndef AS_LIBRARY
int main(int argc, char** argv) {
  visit(argc); HOLD;
  if (argc > 1) {
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) return 3;
    reinterpret_cast<void (*)(int)>(dlsym(library, "visit"))(1);
    dlclose(library);
    std::puts(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == nullptr ? "unloaded" : "still loaded");
  }
  return 0;
}
#endif
