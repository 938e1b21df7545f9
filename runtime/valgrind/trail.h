// The trail of a block that was lost with its last read: what its owner's frame
// ran from then on, until it was left. What a variable in a register was set to
// next, and where its scope ended, is on it.
#pragma once

#include "valgrind/blocks.h"
#include "valgrind/threads.h"
#include "valgrind/vg.h"

namespace plumb::vg {

// Two addresses each, in one list of frames.
inline constexpr UInt kMaxTrail = watch::kMaxFrames / 2;

struct Trail {
  Addr from;  // the read
  UInt count;
  bool thrown;
  bool left;   // the frame was left: nothing follows
  Addr frame;  // a stack pointer in it
  UInt patience;
  const Piece* pieces[kMaxTrail];
};

// The owner read it in this piece.
void begin_trail(Block& it, Addr read_ip, const Piece* piece, Addr sp);
void add_to_trail(Block& it, const Piece* piece);
void end_trail(Block& it);
void forget_trail(Block& it);

// After the loss: the frame is followed on. Non-zero while there are such.
void follow_trail(BlockId id, ThreadId thread);
// A piece is about to run. Says how many trails came to their end.
UInt advance_trails(ThreadId id, const Thread& thread, const Piece* piece, Addr sp);
// An exception, or a jump, ended the frames below.
UInt unwind_trails(ThreadId id, Addr sp, bool thrown);

void copy_trail(const Block& it, watch::Frames& frames);

}  // namespace plumb::vg
