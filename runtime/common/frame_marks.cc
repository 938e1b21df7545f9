#include "common/frame_marks.h"

#include <unwind.h>

namespace plumb::rt {

namespace {

constexpr unsigned kMostFrames = 48;

struct Frame {
  uintptr_t end;  // of the frame: its caller's stack pointer
  uintptr_t function;
};
struct Frames {
  Frame frames[kMostFrames];
  unsigned count;
};
thread_local constinit Frames marked __attribute__((tls_model("initial-exec"))) = {};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto* walk = static_cast<Frames*>(argument);
  walk->frames[walk->count++] = {_Unwind_GetCFA(context), _Unwind_GetRegionStart(context)};
  return walk->count < kMostFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

void mark_frames() {
  marked.count = 0;
  _Unwind_Backtrace(visit, &marked);
}

// libgcc's CFA of a frame, as _Unwind_Backtrace tells it, is the stack pointer at
// the frame's own call.
uintptr_t marked_stack() {
  Frames now;
  now.count = 0;
  _Unwind_Backtrace(visit, &now);
  for (unsigned i = 0; i < now.count; ++i) {
    for (unsigned k = 0; k < marked.count; ++k) {
      const Frame& old = marked.frames[k];
      if (old.function != 0 && old.function == now.frames[i].function &&
          old.end == now.frames[i].end) {
        return now.frames[i].end;
      }
    }
  }
  return 0;
}

}  // namespace plumb::rt
