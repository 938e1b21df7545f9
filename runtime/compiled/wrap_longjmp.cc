// longjmp: the frames between here and where it goes are abandoned, and with them
// the references in them. Their memory is looked through as it lies, frame by frame:
// the place is the call by which the frame that held a reference was left. Which
// variable a word belonged to is not known here.
//
// Where the jump goes is in the buffer as glibc on x86-64 keeps it: mangled with
// a word of the thread's. An address that makes no sense there is ignored.

#include <dlfcn.h>
#include <setjmp.h>

#include "common/process.h"
#include "common/stack_depot.h"
#include "compiled/drop.h"
#include "compiled/place_notes.h"
#include "compiled/stacks.h"
#include "compiled/walk.h"
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

struct Abandoned {
  uintptr_t from;
  uintptr_t to;
};

void drop_part(Inside& in, Abandoned part, const uintptr_t* addresses, unsigned count) {
  const PlaceNote note{0, stack_id(in, addresses, count), 0, PLUMB_CAUSE_SCOPE_END};
  uint32_t place = 0;
  for (uintptr_t at = part.from; at + sizeof(uint64_t) <= part.to; at += sizeof(uint64_t)) {
    const uint64_t word = *reinterpret_cast<volatile uint64_t*>(at);
    if (!may_refer(word)) continue;
    if (place == 0) place = note_place(in, note);
    write_drop(word, place);
  }
}

void drop_frames(Inside& in, Abandoned all, Caller caller) {
  StackWalk walk;
  {
    ThreadHeapUse heap(in);
    walk_up(*heap, walk, caller.frame, caller.address, kMaxDepth);
  }
  uintptr_t from = all.from;
  for (unsigned i = 0; i < walk.count && from < all.to; ++i) {
    // A frame ends below the return address to its caller.
    const bool last = i + 1 == walk.count || walk.places[i + 1] <= from;
    const uintptr_t end = last || walk.places[i + 1] > all.to ? all.to : walk.places[i + 1];
    drop_part(in, {from, end}, walk.addresses + i, walk.count - i < 16 ? walk.count - i : 16);
    from = end;
  }
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
      drop_frames(in, {here, target}, caller);
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
