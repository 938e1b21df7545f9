// Stacks, each kept once; and how they are taken.
//
// Addresses are written as the records have them: one past the instruction of
// interest for every frame, so that readers step back by one for all. Frames of
// our own library inside the program are left out.
#pragma once

#include "common/watch_protocol.h"
#include "valgrind/vg.h"

namespace plumb::vg {

using StackId = UInt;  // 0: unknown

struct RawStack {
  UInt count;
  Addr ips[watch::kMaxFrames];  // as Valgrind has them
  Addr sps[watch::kMaxFrames];
};

// The code of the library inside the program.
extern Addr own_begin;
extern Addr own_end;
inline bool is_own(Addr ip) { return ip >= own_begin && ip < own_end; }

// The thread's stack now; `just_returned` right after a return was executed and
// before anything of the caller's.
void take_stack(ThreadId thread, RawStack& stack, bool just_returned = false);

// Without the frames inside the one that contains this stack address.
void cut_to_frame_of(RawStack& stack, Addr address);
void drop_innermost(RawStack& stack);
void put_innermost(RawStack& stack, Addr ip, Addr sp);

StackId keep_stack(const RawStack& stack);
StackId current_stack(ThreadId thread);

// Frames of a kept stack into the answer.
void copy_frames(StackId id, watch::Frames& frames);

}  // namespace plumb::vg
