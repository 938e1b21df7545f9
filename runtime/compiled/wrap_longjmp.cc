// longjmp: the frames between here and where it goes are abandoned, and with them
// the references in them. Their memory is looked through as it lies; which
// variable a word belonged to is not known here.
//
// Where the jump goes is in the buffer as glibc on x86-64 keeps it: mangled with
// a word of the thread's. An address that makes no sense there is ignored.

#include <dlfcn.h>
#include <setjmp.h>

#include "common/process.h"
#include "compiled/drop.h"
#include "compiled/stacks.h"
#include "preload/export.h"

using namespace plumb::rt;

namespace {

constexpr unsigned kStackPointer = 6;  // in __jmp_buf
constexpr uintptr_t kMostAbandoned = uintptr_t{64} << 20;

uintptr_t target_of(const __jmp_buf_tag* buffer) {
  uintptr_t mangled = static_cast<uintptr_t>(buffer->__jmpbuf[kStackPointer]);
  uintptr_t guard;
  __asm__("movq %%fs:0x30, %0" : "=r"(guard));
  mangled = mangled >> 17 | mangled << 47;
  return mangled ^ guard;
}

using Jump = void (*)(__jmp_buf_tag*, int);

__attribute__((always_inline, noreturn)) inline void leave(__jmp_buf_tag* buffer, const char* name,
                                                           int value, Caller caller) {
  if (tracking()) {
    Inside in;
    __builtin_unwind_init();  // the caller's registers are then in this frame
    const uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_alloca(16));
    const uintptr_t target = target_of(buffer);
    if (in.outermost() && target > here && target - here < kMostAbandoned) {
      drop_contents(in, reinterpret_cast<void*>(here), target - here, nullptr,
                    PLUMB_CAUSE_SCOPE_END, false, caller);
    }
  }
  reinterpret_cast<Jump>(dlsym(RTLD_NEXT, name))(buffer, value);
  __builtin_unreachable();
}

}  // namespace

#define PLUMB_LONGJMP(name)                                                                     \
  PLUMB_EXPORT __attribute__((noreturn)) void name(__jmp_buf_tag* buffer, int value) noexcept { \
    leave(buffer, #name, value, {PLUMB_HERE()});                                                \
  }

PLUMB_LONGJMP(longjmp)
PLUMB_LONGJMP(_longjmp)
PLUMB_LONGJMP(siglongjmp)
PLUMB_LONGJMP(__longjmp_chk)
