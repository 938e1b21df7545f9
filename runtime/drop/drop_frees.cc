// Puts leaks into a program that has none: skips a share of its calls of free, and
// writes down which blocks those were.
//
// A library of its own, so that any tool can be asked whether it finds them:
//
//   PLUMB_DROP_FREES="percent=10:seed=1:output=FILE" LD_PRELOAD=libplumb_drop.so ...
//
// The n-th call of free is skipped, or not, whatever it frees: a second run of the
// same program skips the same ones. FILE gets one line per block: its address, its
// usable size, and who called, as "module+offset". Nothing else is replaced; what
// is freed inside realloc goes as usual. The variable is taken out of the
// environment, and children skip nothing.

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

void (*next_free)(void*) = nullptr;
bool looking = false;

unsigned percent = 0;
uint64_t seed = 0;
int output = -1;
int owner = 0;  // process
uint64_t calls = 0;

uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Lines are put together here: stdio would allocate.
class Line {
 public:
  void add(const char* text) {
    while (*text != 0 && used_ < sizeof text_ - 1) text_[used_++] = *text++;
  }
  void add(uint64_t number, unsigned base) {
    char digits[24];
    unsigned count = 0;
    do digits[count++] = "0123456789abcdef"[number % base];
    while ((number /= base) != 0);
    while (count > 0 && used_ < sizeof text_ - 1) text_[used_++] = digits[--count];
  }
  void write_to(int file) {
    text_[used_++] = '\n';
    [[maybe_unused]] const ssize_t put = ::write(file, text_, used_);
  }

 private:
  char text_[512];
  size_t used_ = 0;
};

void write_down(void* block, void* caller) {
  Line line;
  line.add("0x");
  line.add(reinterpret_cast<uintptr_t>(block), 16);
  line.add(" ");
  line.add(malloc_usable_size(block), 10);
  line.add(" ");
  Dl_info place{};
  uintptr_t offset = reinterpret_cast<uintptr_t>(caller);
  if (dladdr(caller, &place) != 0 && place.dli_fname != nullptr) {
    line.add(place.dli_fname);
    offset -= reinterpret_cast<uintptr_t>(place.dli_fbase);
  } else {
    line.add("?");
  }
  line.add("+0x");
  line.add(offset, 16);
  line.write_to(output);
}

bool is_skipped(void* block, void* caller) {
  if (percent == 0 || owner == 0 || getpid() != owner) return false;
  const uint64_t call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (mix(mix(seed) + call) % 100 >= percent) return false;
  if (output >= 0) write_down(block, caller);
  return true;
}

__attribute__((constructor)) void start(int, char**, char** environment) {
  constexpr char kName[] = "PLUMB_DROP_FREES=";
  const char* text = nullptr;
  for (char** at = environment; *at != nullptr; ++at) {
    if (strncmp(*at, kName, sizeof kName - 1) == 0) text = *at + sizeof kName - 1;
  }
  // Under plumb run the program sees the environment that it would have. A tool that
  // starts it by way of other programs needs the variable to get there.
  if (text != nullptr && strstr(text, "hide=1") != nullptr) {
    char** to = environment;
    for (char** at = environment; *at != nullptr; ++at) {
      if (strncmp(*at, kName, sizeof kName - 1) != 0) *to++ = *at;
    }
    *to = nullptr;
  }
  if (text == nullptr) return;
  if (const char* at = strstr(text, "percent="); at != nullptr) {
    percent = static_cast<unsigned>(strtoul(at + 8, nullptr, 10));
  }
  if (const char* at = strstr(text, "seed="); at != nullptr) seed = strtoull(at + 5, nullptr, 10);
  if (const char* at = strstr(text, "output="); at != nullptr) {
    output = open(at + 7, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    // Out of the way of the program's own descriptors.
    if (const int far = fcntl(output, F_DUPFD_CLOEXEC, 903); far >= 0) {
      close(output);
      output = far;
    }
  }
  owner = getpid();
}

void give_back(void* block, void* caller) {
  if (next_free == nullptr && !looking) {
    looking = true;
    next_free = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_NEXT, "free"));
    looking = false;
  }
  if (block == nullptr || next_free == nullptr) return;
  if (is_skipped(block, caller)) return;
  next_free(block);
}

}  // namespace

#define PLUMB_FREE(NAME, ...)                                                            \
  extern "C" __attribute__((visibility("default"))) void NAME(void* block __VA_ARGS__) { \
    give_back(block, __builtin_return_address(0));                                       \
  }

PLUMB_FREE(free)
// Those of libstdc++ would come to free, but memcheck puts its own in their place.
PLUMB_FREE(_ZdlPv)
PLUMB_FREE(_ZdaPv)
PLUMB_FREE(_ZdlPvm, , size_t)
PLUMB_FREE(_ZdaPvm, , size_t)
PLUMB_FREE(_ZdlPvRKSt9nothrow_t, , const void*)
PLUMB_FREE(_ZdaPvRKSt9nothrow_t, , const void*)
PLUMB_FREE(_ZdlPvSt11align_val_t, , size_t)
PLUMB_FREE(_ZdaPvSt11align_val_t, , size_t)
PLUMB_FREE(_ZdlPvmSt11align_val_t, , size_t, size_t)
PLUMB_FREE(_ZdaPvmSt11align_val_t, , size_t, size_t)
PLUMB_FREE(_ZdlPvSt11align_val_tRKSt9nothrow_t, , size_t, const void*)
PLUMB_FREE(_ZdaPvSt11align_val_tRKSt9nothrow_t, , size_t, const void*)
