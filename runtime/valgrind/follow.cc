#include "valgrind/follow.h"

#include "valgrind/alarm.h"
#include "valgrind/parts.h"
#include "valgrind/place.h"
#include "valgrind/reach.h"
#include "valgrind/trail.h"

namespace plumb::vg {

ULong floating = 0;
bool inside_holds = false;
const Jump no_jump{0, 0};
const Jump* last_jump = &no_jump;

namespace {

Vector<BlockId> floats;
ULong now = 0;
ULong followed_since = 1;  // grows each time the following starts anew

// In the order of the guest state.
enum Register : UInt { kRax, kRcx, kRdx, kRbx, kRsp, kRbp, kRsi, kRdi };
constexpr UInt kRegisters = 16;
constexpr UShort bit(UInt number) { return static_cast<UShort>(1u << number); }
// Functions keep these for their callers.
constexpr UShort kKept = bit(kRbx) | bit(kRbp) | bit(12) | bit(13) | bit(14) | bit(15);
constexpr UShort kResults = bit(kRax) | bit(kRdx);

// The `return` that led to the end of this piece. For one that is reached by a
// conditional jump, compilers that do not optimise leave an instruction that does
// nothing, so that there is something that has its line.
Addr return_place(const Piece* piece) {
  constexpr UChar kNop = 0x90;
  if (last_jump->to == piece->first) return last_jump->from;
  return *reinterpret_cast<const UChar*>(piece->first) == kNop ? piece->first : piece->last;
}

bool is_current(const Slot& slot) {
  return (block(slot.block).generation & 0xfffffff) == slot.generation;
}

void start_floating(BlockId id) {
  Block& it = block(id);
  it.thread = VG_(get_running_tid)();
  if (it.state == kFloating) return;
  it.state = kFloating;
  if (floating == 0) ++followed_since;
  floats.push(id);
  ++floating;
}

void stop_floating(BlockId id) {
  for (UInt i = 0; i < floats.count; ++i) {
    if (floats[i] != id) continue;
    floats[i] = floats.last();
    floats.pop();
    --floating;
    return;
  }
}

void note_drop(Block& it, Cause cause, StackId stack, UChar flags) {
  it.drop = {++now, stack, cause, flags, 0, it.drop.place};
  note_no_place(it);
  it.read = false;
  it.read_below = false;
  it.float_age = 0;
}

// Only other blocks refer to it from now on: should they be a cycle, it is lost here.
// That happens all the time, so nothing is kept of it but the place.
void left_outside(Block& it, Cause cause, Addr ip) {
  it.drop = {++now, 0, cause, 0, ip, it.drop.place};
  note_no_place(it);
}

// Nothing outside refers to it any more, except perhaps registers.
void dropped(BlockId id, Cause cause, StackId stack, UChar flags = 0) {
  Block& it = block(id);
  if (it.held != 0) return;
  note_drop(it, cause, stack, flags);
  start_floating(id);
}
// The same, for a word of memory.
void dropped(const OldSlot& slot, Cause cause, const RawStack& stack, UChar flags = 0) {
  Block& it = block(slot.block);
  if (it.held != 0) return;
  dropped(slot.block, cause, keep_stack(stack), flags);
  note_word(it, slot.address, stack, VG_(get_running_tid)(), cause == kHolderFreed);
}

// Where and why, for a word that was overwritten or went with its memory.
void dropped_here(const OldSlot& slot, Cause cause, ThreadId thread) {
  Block& it = block(slot.block);
  if (it.held != 0) return;
  Thread& state = thread_state(thread);
  RawStack stack;
  take_stack(thread, stack);
  if (state.end_stack != 0) {  // libc cleans up after the thread's function
    dropped(slot.block, kThreadEnd, state.end_stack);
    note_word(it, slot.address, stack, thread, false);
    return;
  }
  dropped(slot, cause, stack);
}

void add_reference(BlockId id, Addr word, SlotKind kind, ThreadId thread) {
  Block& it = block(id);
  if (kind == kSaved) {
    ++it.saved;
    return;
  }
  it.stored = true;
  if (kind == kInside && !inside_holds) return;
  ++it.held;
  if (it.state != kHeld) {
    if (it.state == kFloating) stop_floating(id);
    it.state = kHeld;
  }
  if (kind == kInside) {
    it.owner_sp = 0;
    if (it.outside == 0) left_outside(it, kScopeEnd, VG_(get_IP)(thread));
    return;
  }
  ++it.outside;
  // A word of a function that the owner called is not the owner's.
  const Thread& state = thread_state(thread);
  const bool below_owner = it.owner_sp != 0 && word < it.owner_sp && word >= state.stack_low;
  if (!below_owner) it.owner_sp = 0;
}

// The slot has been removed. True: it was the last that held the block.
bool lose_reference(const OldSlot& slot, Cause cause, Addr ip) {
  if (!is_current(slot)) return false;
  Block& it = block(slot.block);
  if (it.state == kFreed) return false;
  if (slot.kind == kSaved) {
    --it.saved;
    return false;
  }
  if (slot.kind == kOutside) {
    --it.held;
    --it.outside;
    if (it.outside == 0 && it.held != 0) left_outside(it, cause, ip);
  } else if (inside_holds) {
    --it.held;
  }
  return it.held == 0;
}

// A word that is over must not look like a reference later, when somebody
// writes one half of it.
void wipe(const OldSlot& slot) {
  Addr* word = reinterpret_cast<Addr*>(slot.address);
  if (find_block(*word) == slot.block) *word = 0;
}

// libc keeps the stacks of ended threads. The frames of our own library are on
// it, too, and those are not followed.
void wipe_stack(Addr sp, Addr end) {
  constexpr Addr kDeep = 256 * 1024;
  const NSegment* segment = VG_(am_find_nsegment)(sp);
  if (segment == nullptr || !segment->hasW) return;
  Addr at = sp - kDeep > segment->start && sp > kDeep ? sp - kDeep : segment->start;
  if (end > segment->end) end = segment->end;
  for (at &= ~Addr{7}; at + sizeof(Addr) <= end; at += sizeof(Addr)) {
    Addr* word = reinterpret_cast<Addr*>(at);
    if (may_refer(*word)) *word = 0;
  }
}

// What our own library left below the stack pointer when it returned to the program: its
// stores are not followed, and somebody may copy the words later.
void wipe_own_frames(Addr sp) {
  constexpr Addr kDeep = 1024;
  const NSegment* segment = VG_(am_find_nsegment)(sp);
  if (segment == nullptr || !segment->hasW) return;
  Addr at = sp - kDeep > segment->start ? sp - kDeep : segment->start;
  for (at = (at + 7) & ~Addr{7}; at < sp; at += sizeof(Addr)) {
    Addr* word = reinterpret_cast<Addr*>(at);
    if (may_refer(*word) && slots.find(at) == nullptr) *word = 0;
  }
}

void reconcile(Addr word, bool saved, bool partial, ThreadId thread) {
  const BlockId found = find_followed(*reinterpret_cast<const Addr*>(word));
  Slot* slot = slots.find(word);
  if (slot == nullptr && found == 0) return;
  const bool inside = watch::is_followed(word) || is_in_part(word);
  const SlotKind kind = inside ? kInside : saved ? kSaved : kOutside;
  OldSlot old{};
  if (slot != nullptr) {
    if (slot->block == found && slot->kind == kind && is_current(*slot)) return;
    old = slots.take(word, slot);
  }
  // Half-written words pass through values that mean nothing.
  const bool chance = found != 0 && partial && block(found).state == kGone;
  if (found != 0 && !chance) {
    add_reference(found, word, kind, thread);
    Slot* fresh = slots.add(word, found, kind);
    if (old.listed != 0) {
      fresh->listed = 1;
    } else if (const ThreadId owner = stack_owner(word, thread); owner != 0) {
      fresh->listed = 1;
      list_stack_word(owner, word);
      if (owner == thread) set_lowest(thread);
    }
  }
  if (old.block != 0 && lose_reference(old, kOverwritten, VG_(get_IP)(thread))) {
    dropped_here(old, kOverwritten, thread);
  }
}

// Words that became something else: parts of a block, or no longer.
void look_again(Addr begin, SizeT size, ThreadId thread) {
  for (Addr word = (begin + 7) & ~Addr{7}; word + sizeof(Addr) <= begin + size; word += 8) {
    reconcile(word, false, false, thread);
  }
}

BlockId looked_for_part = 0;
ULong looked_at = 0;  // bytes
void look_at_word(Addr word, Addr value) {
  if (find_block(value) == looked_for_part) {
    reconcile(word, false, false, VG_(get_running_tid)());
  }
}

// The stack when the unwinding began, from the frame of this address on.
RawStack left_stack(const Thread& state, Addr address) {
  RawStack stack = *state.left;
  cut_to_frame_of(stack, address);
  return stack;
}

Cause left_cause(const Thread& state) { return state.leaving == kJump ? kScopeEnd : kEscapedThrow; }

// A function's end, and what registers have there.
struct Returning {
  const VexGuestAMD64State* state;
  const Piece* piece;
};

// A structure of two words comes back in two registers; the second one is left over from
// something else unless it was set right before.
bool has_as_result(const Returning& returning, BlockId id) {
  if (find_block(returning.state->guest_RAX) == id) return true;
  return (returning.piece->writes & bit(kRdx)) != 0 && find_block(returning.state->guest_RDX) == id;
}

// The frame was entered by a jump from the function that had the block.
bool is_tail_caller(const Block& it) { return it.owner_sp != 0 && it.tail_sp == it.owner_sp; }

// All words of the stack below `sp` are over: by a return, or by unwinding.
void frames_end(ThreadId id, Thread& state, Addr sp, const Returning* returning, Addr return_ip) {
  RawStack raw;
  raw.count = 0;
  const auto returned_stack = [&]() -> const RawStack& {  // taken when it is needed: rarely
    if (returning != nullptr && raw.count == 0) {
      take_stack(id, raw, true);
      raw.ips[0] = return_ip;
    }
    return raw;
  };
  while (state.stack_words.count != 0 && state.stack_words.last() < sp) {
    const Addr word = state.stack_words.pop();
    if (word == state.end_marker) {
      state.end_marker = 0;
      state.end_stack = keep_stack(returned_stack());
      continue;
    }
    Slot* slot = slots.find(word);
    if (slot == nullptr) {
      // Of a variable that was out of scope before; nothing else is to take it for one.
      Addr* left = reinterpret_cast<Addr*>(word);
      if (may_refer(*left)) *left = 0;
      continue;
    }
    if (slot->listed == 0) continue;
    const OldSlot old = slots.take(word, slot);
    wipe(old);
    if (!lose_reference(old, kScopeEnd, return_ip)) continue;
    Block& it = block(old.block);
    if (state.leaving != 0 && returning == nullptr) {
      // The unwinder's own frames lie below; what they saved belonged to the
      // function that had it in registers.
      const bool in_frame = word >= state.left->sps[0];
      const RawStack stack = left_stack(state, in_frame ? word : it.owner_sp);
      dropped(old, left_cause(state), stack);
      if (!in_frame) note_registers(it, it.read_registers);
      continue;
    }
    RawStack stack = returned_stack();
    const bool passed_on = it.owner_sp != 0 && it.owner_sp > word && it.owner_sp >= sp;
    // A function that jumped into this one ends with it.
    const bool jumped = !passed_on && returning != nullptr && it.owner_sp + sizeof(Addr) == sp &&
                        it.owner_sp > word && is_tail_caller(it);
    if (passed_on) cut_to_frame_of(stack, it.owner_sp);
    if (jumped && stack.count != 0) stack.ips[0] = it.read_ip;
    const bool returned =
        !passed_on && returning != nullptr && has_as_result(*returning, old.block);
    dropped(old, kScopeEnd, stack, returned ? kReturned : jumped ? kLastRead : 0);
    if (passed_on || jumped) note_registers(it, it.read_registers);
    if (jumped) end_trail(it);
  }
  set_lowest(id);
}

// --- Registers ---

struct Sighting {
  UShort in;    // general registers that have it
  bool vector;  // some vector register has it
};

const Addr* general(const VexGuestAMD64State* state) {
  return reinterpret_cast<const Addr*>(&state->guest_RAX);
}

Sighting find_in_registers(const VexGuestAMD64State* state, const Thread& thread,
                           const Piece* piece, BlockId id, bool with_vectors) {
  Sighting seen{};
  const Block& it = block(id);
  const Addr* values = general(state);
  for (UInt i = 0; i < kRegisters; ++i) {
    const Addr value = plain(values[i]);
    if (value < it.address || value > it.address + it.size) continue;
    // Where a part ends, the next one may begin.
    if (it.is_part && find_block(value) != id) continue;
    if (values[i] == thread.dead_value[i] && (piece->reads & bit(i)) == 0) continue;
    seen.in |= bit(i);
  }
  // While a function has it saved for its caller, only a read of one matters.
  if (seen.in == 0 && with_vectors && (it.saved == 0 || piece->reads_vectors)) {
    const Addr* words = reinterpret_cast<const Addr*>(&state->guest_YMM0);
    for (UInt i = 0; i < 16 * 4 && !seen.vector; ++i) {
      seen.vector = plain(words[i]) >= it.address && plain(words[i]) <= it.address + it.size;
    }
  }
  return seen;
}

// After a return the registers that functions do not keep are left-overs.
void note_left_overs(const VexGuestAMD64State* state, Thread& thread) {
  const Addr* values = general(state);
  for (UInt i = 0; i < kRegisters; ++i) {
    const bool dead = ((kKept | kResults | bit(kRsp)) & bit(i)) == 0;
    thread.dead_value[i] = dead && may_refer(values[i]) ? values[i] : 0;
  }
}

// The function that had it has returned to this place.
bool has_returned(const Block& it, const Piece* before, Addr sp) {
  return before != nullptr && before->ends_in_return && it.owner_sp < sp;
}

UInt other_threads = 0;  // besides the first

// Another thread that has it in a register, or 0.
ThreadId looked_for_by;
Addr looked_for_begin;
Addr looked_for_end;
ThreadId looked_for_at;
void look_in_register(ThreadId thread, const HChar*, UWord value) {
  if (thread != looked_for_by && plain(value) >= looked_for_begin &&
      plain(value) <= looked_for_end) {
    looked_for_at = thread;
  }
}
ThreadId find_in_other_threads(const Block& it, ThreadId running) {
  if (other_threads == 0) return 0;  // there are many slots to look at
  looked_for_by = running;
  looked_for_begin = it.address;
  looked_for_end = it.address + it.size;
  looked_for_at = 0;
  VG_(apply_to_GP_regs)(look_in_register);
  return looked_for_at;
}

// The function that has just returned to this place, as the innermost frame again.
void put_returned(RawStack& stack, Addr ip, Addr sp) {
  if (stack.count != 0) --stack.ips[0];  // the call, not what follows it
  put_innermost(stack, ip, sp - sizeof(Addr));
}

// The loss of a block that registers do not have any more.
void float_away(BlockId id, ThreadId thread_id, const Thread& thread, const Piece* piece,
                Addr entry, Addr sp) {
  Block& it = block(id);
  if (thread.leaving != kNoLeave && it.owner_sp >= thread.left->sps[0]) {
    // A frame is cleaned up on the way to the handler.
    note_drop(it, left_cause(thread), keep_stack(left_stack(thread, it.owner_sp)), 0);
    note_registers(it, it.read_registers);
  } else if (it.read) {
    RawStack stack;
    take_stack(thread_id, stack);
    bool left = false;
    if (has_returned(it, thread.before, sp)) {
      put_returned(stack, it.read_ip, sp);
      left = true;
    } else if (it.owner_sp > entry) {
      cut_to_frame_of(stack, it.owner_sp);
      // Unless the function that was called read it: gone before, behind the last read.
      if (is_tail_caller(it) || !it.read_below) stack.ips[0] = it.read_ip;
    } else if (stack.count != 0) {
      // The call that read it last, or the owner's own last read.
      stack.ips[0] = it.read_below ? piece->first - 1 : it.read_ip;
    }
    // What a function of the allocator's read last was given to it.
    const bool given = thread.before != nullptr && is_own(thread.before->first);
    note_drop(it, kScopeEnd, keep_stack(stack), given ? 0 : kLastRead);
    note_registers(it, it.read_registers);
    if (left) {
      end_trail(it);
    } else if (it.trail != nullptr) {
      follow_trail(id, thread_id);
      ++floating;
      if (it.owner_sp <= entry && sp >= it.trail->frame) add_to_trail(it, piece);
    }
  }
  it.owner_sp = 0;
  it.state = kGone;
  note_gone(id);
}

void look_at_block(const VexGuestAMD64State* state, const Piece* piece, ThreadId thread_id,
                   Thread& thread, Addr entry, BlockId id, const Sighting& seen) {
  Block& it = block(id);
  const Addr sp = state->guest_RSP;
  if (it.read && has_returned(it, thread.before, sp)) {
    // It came back from the function that owned it.
    if ((seen.in & kKept) != 0) {
      it.owner_sp = sp;
      it.tail_sp = 0;
      it.read_ip = piece->first - 1;
    } else {
      RawStack stack;
      take_stack(thread_id, stack);
      put_returned(stack, it.read_ip, sp);
      // As in has_as_result().
      const bool second = (seen.in & bit(kRdx)) != 0 && (thread.before->writes & bit(kRdx)) != 0;
      const bool returned = (seen.in & bit(kRax)) != 0 || second;
      note_drop(it, kScopeEnd, keep_stack(stack), kLastRead | (returned ? kReturned : 0));
      note_registers(it, it.read_registers);
      end_trail(it);
      it.owner_sp = 0;
    }
  } else if (it.read_below && it.owner_sp <= entry) {
    // Back in the owner: the call is its last read so far.
    it.read_below = false;
    it.read_ip = piece->first - 1;
  }
  const UShort read = seen.in & piece->reads;
  const bool is_read = read != 0 || (seen.vector && piece->reads_vectors);
  UShort copies = seen.in;
  for (UInt i = 0; i < kRegisters; ++i) {
    if ((seen.in & bit(i)) != 0) copies |= piece->copied[i];
  }
  if (!is_read) {
    if (it.owner_sp != 0 && it.owner_sp <= entry) {
      add_to_trail(it, piece);
      it.read_registers |= copies;
    }
    return;
  }
  it.read = true;
  it.float_age = 0;
  if (it.owner_sp > entry) {
    it.read_below = true;
    return;
  }
  it.owner_sp = sp;
  it.tail_sp = 0;
  it.read_registers = copies;
  it.read_ip = piece->first;  // a vector register, if no other
  for (UInt i = 0; i < kRegisters; ++i) {
    if ((read & bit(i)) == 0) continue;
    const Addr ip = piece->first + piece->read_at[i] - 1;
    if (ip > it.read_ip) it.read_ip = ip;
  }
  begin_trail(it, it.read_ip, piece, sp);
}

// A function ends by jumping into another: what it had is passed on by it, as by
// a call.
void begin_tail(ThreadId id, Thread& thread, Addr sp) {
  thread.tails.push(sp);
  for (BlockId float_id : floats) {
    Block& it = block(float_id);
    if (it.thread != id || it.owner_sp == 0 || it.owner_sp > sp) continue;
    if (it.owner_sp == sp && it.tail_sp == sp) continue;  // passed on by what it was passed to
    it.owner_sp = it.tail_sp = sp;
    it.read_ip = thread.before->last;
  }
}

void follow_anew(Thread& thread) {
  thread.followed_since = followed_since;
  thread.before = nullptr;
  thread.entries.clear();
  thread.tails.clear();
  VG_(memset)(thread.dead_value, 0, sizeof thread.dead_value);
}

// The stack pointer at the entry of the running function; the highest address
// when it was entered before the following began.
Addr follow_calls(ThreadId id, Thread& thread, const Piece* piece, Addr sp) {
  if (thread.followed_since != followed_since) follow_anew(thread);
  while (thread.entries.count != 0 && thread.entries.last() < sp) thread.entries.pop();
  while (thread.tails.count != 0 && thread.tails.last() < sp) thread.tails.pop();
  if (thread.before != nullptr && thread.before->ends_in_call) thread.entries.push(sp);
  if (thread.before != nullptr && thread.before->ends_in_jump && piece->is_entry) {
    begin_tail(id, thread, sp);
  }
  const Addr called = thread.entries.count == 0 ? ~Addr{0} : thread.entries.last();
  // A function that was jumped into has the frame of the one that jumped.
  if (thread.tails.count != 0 && thread.tails.last() <= called) return thread.tails.last() - 1;
  return called;
}

void stack_unwound(ThreadId id) {
  Thread& thread = thread_state(id);
  if (thread.leaving == 0) return;
  const Addr sp = VG_(get_SP)(id);
  frames_end(id, thread, sp, nullptr, 0);
  for (BlockId float_id : floats) {
    Block& it = block(float_id);
    if (it.owner_sp >= thread.left->sps[0] && it.owner_sp < sp) {
      note_drop(it, left_cause(thread), keep_stack(left_stack(thread, it.owner_sp)), 0);
      note_registers(it, it.read_registers);
      it.owner_sp = 0;
    }
  }
  floating -= unwind_trails(id, sp, thread.leaving == kException);
  if (thread.leaving == kJump) --floating;
  thread.leaving = kNoLeave;
}

}  // namespace

void begin_block(BlockId id, ThreadId thread) {
  Block& it = block(id);
  it.allocation = current_stack(thread);
  it.use_stack = 0;
  if (is_kept(it)) {
    it.state = kHeld;
    return;
  }
  note_drop(it, kDiscarded, it.allocation, 0);
  start_floating(id);
}

void end_block(BlockId id, ThreadId thread) {
  Block& it = block(id);
  stop_floating(id);
  forget_trail(it);
  forget_place(it);
  it.state = kFreed;
  if (it.is_part) {
    // What it held stays there, and counts as long as it does.
    remove_part(id);
    look_again(it.address, it.size, thread);
    return;
  }
  range_dies(it.address, it.size, kHolderFreed, thread);
  free_block(id);
}

void begin_part(Addr address, SizeT size, ThreadId thread) {
  const BlockId id = add_part(address, size);
  if (id == 0) return;
  begin_block(id, thread);
  look_again(address, size, thread);
  // Who announced it has it already, and perhaps more than that.
  RawStack stack;
  take_stack(thread, stack);
  UInt frame = 0;
  while (frame + 1 < stack.count && is_own(stack.ips[frame])) ++frame;
  if (frame == stack.count) return;
  looked_for_part = id;
  if (looked_at < kMostLooked) {
    looked_at += each_reference_now(stack.sps[frame], thread, look_at_word);
    return;
  }
  const Addr top = stack.sps[stack.count - 1];
  for (Addr at = (stack.sps[frame] + 7) & ~Addr{7}; at < top; at += sizeof(Addr)) {
    look_at_word(at, *reinterpret_cast<const Addr*>(at));
  }
}

void memory_written(Addr address, SizeT size, bool saved, bool partial) {
  const ThreadId thread = VG_(get_running_tid)();
  for (Addr word = address & ~Addr{7}; word < address + size; word += 8) {
    reconcile(word, saved, partial, thread);
  }
}

void range_dies(Addr begin, SizeT size, Cause cause, ThreadId thread) {
  slots.take_range(begin, begin + size, [&](const OldSlot& slot) {
    if (cause == kHolderFreed) wipe(slot);
    if (lose_reference(slot, cause, VG_(get_IP)(thread))) dropped_here(slot, cause, thread);
  });
}

void range_moves(Addr from, Addr to, SizeT size) {
  slots.take_range(from, from + size, [&](const OldSlot& slot) {
    if (!is_current(slot)) return;
    const Addr word = slot.address - from + to;
    if (Slot* there = slots.find(word); there != nullptr) slots.take(word, there);
    slots.add(word, slot.block, static_cast<SlotKind>(slot.kind));
  });
}

void thread_begins(ThreadId id, Addr marker, bool is_main) {
  Thread& thread = thread_state(id);
  note_stack(id);
  thread.top_sp = marker + sizeof(Addr);
  if (is_main) return;
  ++other_threads;
  thread.end_stack = 0;
  thread.end_marker = marker;
  list_stack_word(id, marker);
  set_lowest(id);
}

void thread_ends(ThreadId id, Addr thread_pointer) {
  Thread& thread = thread_state(id);
  if (thread.top_sp != 0 && id != 1 && other_threads != 0) --other_threads;
  if (thread.stack_high == 0) return;
  if (thread.end_stack == 0) thread.end_stack = current_stack(id);
  // The thread's own variables lie between its stack and the thread pointer;
  // what is above that belongs to whoever joins the thread.
  const Addr end = thread_pointer > thread.stack_high ? thread_pointer : thread.stack_high;
  slots.take_range(thread.stack_low, end, [&](const OldSlot& slot) {
    wipe(slot);
    if (!lose_reference(slot, kThreadEnd, VG_(get_IP)(id))) return;
    dropped(slot.block, kThreadEnd, thread.end_stack);
    RawStack none;
    none.count = 0;
    note_word(block(slot.block), slot.address, none, id, false);
  });
  wipe_stack(VG_(get_SP)(id), end);
  Vector<Addr> words = thread.stack_words;
  words.clear();
  Vector<Addr> entries = thread.entries;
  entries.clear();
  Vector<Addr> tails = thread.tails;
  tails.clear();
  VG_(memset)(&thread, 0, sizeof thread);
  thread.stack_words = words;
  thread.entries = entries;
  thread.tails = tails;
}

VG_REGPARM(1) void on_unwind(UWord leave) {
  const ThreadId id = VG_(get_running_tid)();
  Thread& thread = thread_state(id);
  if (thread.left == nullptr) {
    thread.left = static_cast<RawStack*>(VG_(malloc)("plumb.left", sizeof(RawStack)));
  }
  take_stack(id, *thread.left);
  if (thread.left->count < 2) return;
  drop_innermost(*thread.left);
  // Where a jump arrives is found by looking at each piece of code.
  if (leave == kJump && thread.leaving != kJump) {
    if (floating++ == 0) ++followed_since;
  }
  thread.leaving = static_cast<Leave>(leave);
}

VG_REGPARM(0) void on_catch() { stack_unwound(VG_(get_running_tid)()); }

VG_REGPARM(2) void on_piece(const VexGuestAMD64State* state, const Piece* piece) {
  const ThreadId id = VG_(get_running_tid)();
  Thread& thread = thread_state(id);
  const Addr sp = state->guest_RSP;
  if (thread.leaving == kJump && sp > thread.left->sps[0]) stack_unwound(id);
  const Addr entry = follow_calls(id, thread, piece, sp);
  floating -= advance_trails(id, thread, piece, sp);
  const bool returned = thread.before != nullptr && thread.before->ends_in_return;
  if (returned) note_left_overs(state, thread);
  if (returned && is_own(thread.before->first) && !is_own(piece->first)) wipe_own_frames(sp);
  // What our own library does with registers means nothing; except that main and
  // the threads' functions return to it.
  const bool ended =
      returned && sp == thread.top_sp && is_own(piece->first) && !is_own(thread.before->first);
  if (!is_own(piece->first) || ended) {
    for (UInt i = 0; i < floats.count;) {
      const BlockId it = floats[i];
      if (block(it).thread != id) {
        ++i;
        continue;
      }
      Sighting seen = find_in_registers(state, thread, piece, it, !returned);
      if (ended) seen.in &= kResults;  // the rest is our own copy
      // A register that nobody reads for so long is taken for a left-over:
      // looking at it forever would make the rest of the run slow.
      constexpr UInt kLongUnread = 50000;
      if (++block(it).float_age > kLongUnread) {
        float_away(it, id, thread, piece, entry, sp);
        floats[i] = floats.last();
        floats.pop();
        --floating;
        continue;
      }
      if (seen.in == 0 && !seen.vector && block(it).saved == 0) {
        if (const ThreadId other = find_in_other_threads(block(it), id); other != 0) {
          block(it).thread = other;
          ++i;
          continue;
        }
        float_away(it, id, thread, piece, entry, sp);
        floats[i] = floats.last();
        floats.pop();
        --floating;
        continue;
      }
      look_at_block(state, piece, id, thread, entry, it, seen);
      ++i;
    }
  }
  thread.before = piece;
  if (alarm_wanted) look_for_losses(state, id);
}

VG_REGPARM(1) void on_free(const VexGuestAMD64State* state) {
  Thread& thread = thread_state(VG_(get_running_tid)());
  VG_(memcpy)(thread.freeing, general(state), sizeof thread.freeing);
}

VG_REGPARM(1) void on_scope_end(const ScopeExit* exit) {
  const ThreadId id = VG_(get_running_tid)();
  Thread& thread = thread_state(id);
  if (thread.stack_words.count == 0 || thread.leaving != kNoLeave) return;
  RawStack stack;
  take_stack(id, stack);
  if (stack.count < 2) return;
  const Addr cfa = stack.sps[1];
  stack.ips[0] = exit->ip;
  const ULong since = followed_since;
  for (UInt i = 0; i < exit->count; ++i) {
    const Addr begin = cfa + static_cast<Addr>(exit->words[i].offset);
    // Nobody is to read them again; but they stay as they are, should the debug
    // information be wrong.
    slots.take_range(begin, begin + exit->words[i].size, [&](const OldSlot& slot) {
      if (!lose_reference(slot, kScopeEnd, exit->ip)) return;
      dropped(slot, kScopeEnd, stack);
      // If registers have it, they are this function's.
      Block& it = block(slot.block);
      it.owner_sp = stack.sps[0];
      it.tail_sp = 0;
      it.read_ip = exit->ip;
      it.read_registers = 0;
      begin_trail(it, exit->ip, exit->piece, stack.sps[0]);
    });
  }
  if (since != followed_since) {
    follow_anew(thread);
    thread.before = exit->piece;
  }
}

VG_REGPARM(2) void on_return(const VexGuestAMD64State* state, const Piece* piece) {
  const ThreadId id = VG_(get_running_tid)();
  Thread& thread = thread_state(id);
  Addr sp = state->guest_RSP;
  if (sp < thread.stack_low || sp > thread.stack_high + 1) return;
  // Our own functions that lead up to the thread's function are not its end.
  if (is_own(piece->first) && thread.end_marker != 0 && thread.end_marker < sp) {
    sp = thread.end_marker;
  }
  const Returning returning{state, piece};
  frames_end(id, thread, sp, &returning, return_place(piece));
}

}  // namespace plumb::vg
