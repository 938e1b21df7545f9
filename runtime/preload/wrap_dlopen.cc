// Libraries that bind deeply (RTLD_DEEPBIND) go around us: what they free is found by
// looking at glibc's heap (common/freed_chunks.h).

#include <dlfcn.h>

#include "common/freed_chunks.h"
#include "common/inside.h"
#include "common/process.h"
#include "preload/export.h"

using namespace plumb::rt;

extern "C" {
__attribute__((used, visibility("hidden"))) void* plumb_rt_real_dlopen;
__attribute__((used, visibility("hidden"))) void plumb_rt_deep_bind() {
  if (!is_us() || !tracking()) return;
  const Inside in;
  expect_freed_chunks();
}
}

// Who calls it decides where is looked: it must look called by the program.
PLUMB_EXPORT __attribute__((naked)) void* dlopen(const char*, int) noexcept {
  __asm__(
      "testl $8, %esi\n\t"  // RTLD_DEEPBIND
      "je 1f\n\t"
      "pushq %rdi\n\tpushq %rsi\n\tsubq $8, %rsp\n\t"
      "call plumb_rt_deep_bind\n\t"
      "addq $8, %rsp\n\tpopq %rsi\n\tpopq %rdi\n"
      "1:\n\t"
      "jmp *plumb_rt_real_dlopen(%rip)");
}
static_assert(RTLD_DEEPBIND == 8);

static __attribute__((constructor)) void find_dlopen() {
  plumb_rt_real_dlopen = dlsym(RTLD_NEXT, "dlopen");
}
