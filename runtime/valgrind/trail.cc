#include "valgrind/trail.h"

namespace plumb::vg {

namespace {

// Code of called functions that is waited for; a frame that calls something
// long has shown enough.
constexpr UInt kPatience = 1500;

struct Followed {
  BlockId block;
  UInt generation;
  ThreadId thread;
};
Vector<Followed> followed;

// Most blocks have a trail for a short time only.
Vector<Trail*> unused;

void push(Trail& trail, const Piece* piece) {
  if (trail.count == kMaxTrail) return;
  trail.pieces[trail.count++] = piece;
}

bool is_over(const Trail& trail) {
  return trail.left || trail.count == kMaxTrail || trail.patience == 0;
}

// Removes those for which `is_done(trail)` is true.
template <typename Done>
UInt sweep(ThreadId thread, Done is_done) {
  UInt removed = 0;
  for (UInt i = 0; i < followed.count;) {
    const Followed it = followed[i];
    const Block& at = block(it.block);
    const bool current = at.generation == it.generation && at.trail != nullptr;
    if (current && (it.thread != thread || !is_done(*at.trail))) {
      ++i;
      continue;
    }
    followed[i] = followed.last();
    followed.pop();
    ++removed;
  }
  return removed;
}

}  // namespace

void begin_trail(Block& it, Addr read_ip, const Piece* piece, Addr sp) {
  if (it.trail == nullptr) {
    it.trail = unused.count != 0 ? unused.pop()
                                 : static_cast<Trail*>(VG_(malloc)("plumb.trail", sizeof(Trail)));
  }
  it.trail->from = read_ip;
  it.trail->count = 0;
  it.trail->thrown = false;
  it.trail->left = false;
  it.trail->frame = sp;
  it.trail->patience = kPatience;
  push(*it.trail, piece);
}

void add_to_trail(Block& it, const Piece* piece) {
  if (it.trail != nullptr && !it.trail->left) push(*it.trail, piece);
}

void end_trail(Block& it) {
  if (it.trail != nullptr) it.trail->left = true;
}

void forget_trail(Block& it) {
  if (it.trail == nullptr) return;
  unused.push(it.trail);
  it.trail = nullptr;
}

void follow_trail(BlockId id, ThreadId thread) {
  followed.push({id, block(id).generation, thread});
}

UInt advance_trails(ThreadId id, const Thread& thread, const Piece* piece, Addr sp) {
  if (followed.count == 0) return 0;
  const Piece* before = thread.before;
  return sweep(id, [&](Trail& trail) {
    if (is_over(trail)) return true;
    if (sp < trail.frame) {  // something that it called; unwinding takes long
      if (thread.leaving != kException) --trail.patience;
      return false;
    }
    const bool returned = before != nullptr && before->ends_in_return && sp > trail.frame;
    const bool jumped = before != nullptr && before->ends_in_jump && piece->is_entry;
    if (returned || jumped) {
      trail.left = true;
      trail.thrown = thread.leaving == kException;
      return true;
    }
    push(trail, piece);
    return false;
  });
}

UInt unwind_trails(ThreadId id, Addr sp, bool thrown) {
  return sweep(id, [&](Trail& trail) {
    if (trail.frame >= sp) return false;
    trail.left = true;
    trail.thrown = thrown;
    return true;
  });
}

void copy_trail(const Block& it, watch::Frames& frames) {
  frames.count = 0;
  if (it.trail == nullptr) return;
  for (UInt i = 0; i < it.trail->count; ++i) {
    const Piece& piece = *it.trail->pieces[i];
    frames.addresses[frames.count++] = (i == 0 ? it.trail->from : piece.first) + 1;
    frames.addresses[frames.count++] = piece.last + 1;
  }
}

}  // namespace plumb::vg
