#include "valgrind/place.h"

#include "valgrind/threads.h"
#include "valgrind/vector.h"

namespace plumb::vg {

namespace {

// Most blocks have one for a short time only.
Vector<PlumbPlace*> unused;

constexpr UInt kRegisters = 16;
// DWARF's number for each register in the order of the guest state.
constexpr UChar kDwarfNumber[kRegisters] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr UInt kStackPointer = 4;  // points to everything near

// Members further from what points to the whole are not looked for.
constexpr Addr kFarthest = 4096;
// So much of the frames is looked at.
constexpr UInt kFrames = 3;
constexpr Addr kFrameBytes = 768;

PlumbPlace& place_of(Block& it) {
  if (it.drop.place == nullptr) {
    it.drop.place = unused.count != 0
                        ? unused.pop()
                        : static_cast<PlumbPlace*>(VG_(malloc)("plumb.place", sizeof(PlumbPlace)));
  }
  VG_(memset)(it.drop.place, 0, sizeof(PlumbPlace));
  return *it.drop.place;
}

Addr cfa_of(const RawStack& stack, UInt frame) {
  return frame + 1 < stack.count ? stack.sps[frame + 1] : 0;
}

// As the kept stack counts them: without our own.
UInt kept_frame(const RawStack& stack, UInt frame) {
  UInt own = 0;
  for (UInt i = 0; i < frame; ++i) own += is_own(stack.ips[i]) ? 1 : 0;
  return frame - own;
}

void add_alias(PlumbPlace& place, UInt frame, UInt in_register, Addr value, Word offset) {
  if (place.alias_count == PLUMB_MAX_ALIASES) return;
  const Addr delta = place.word - value;
  // On the stack much is close.
  const Addr farthest = place.kind == PLUMB_PLACE_STACK ? kFarthest / 16 : kFarthest;
  if (delta >= farthest) return;
  place.aliases[place.alias_count++] = {static_cast<UChar>(frame), static_cast<UChar>(in_register),
                                        static_cast<UShort>(delta), static_cast<Int>(offset)};
}

void find_in_registers(PlumbPlace& place, const Addr* registers) {
  for (UInt i = 0; i < kRegisters; ++i) {
    if (i != kStackPointer) add_alias(place, 0, kDwarfNumber[i], registers[i], 0);
  }
}

void find_in_frames(PlumbPlace& place, const RawStack& stack) {
  UInt looked_at = 0;
  for (UInt i = 0; i + 1 < stack.count && looked_at < kFrames; ++i) {
    if (is_own(stack.ips[i])) continue;
    ++looked_at;
    const Addr cfa = cfa_of(stack, i);
    const Addr begin = stack.sps[i] & ~Addr{7};
    if (cfa <= begin || cfa - begin > (Addr{1} << 20)) break;  // not a frame
    Addr at = cfa - begin > kFrameBytes ? cfa - kFrameBytes : begin;
    for (; at < cfa; at += sizeof(Addr)) {
      add_alias(place, kept_frame(stack, i), PLUMB_ALIAS_IN_MEMORY,
                *reinterpret_cast<const Addr*>(at), static_cast<Word>(at - cfa));
    }
  }
}

}  // namespace

void note_no_place(Block& it) {
  if (it.drop.place != nullptr) it.drop.place->kind = PLUMB_PLACE_NONE;
}

void note_word(Block& it, Addr word, const RawStack& stack, ThreadId thread, bool freeing) {
  PlumbPlace& place = place_of(it);
  place.word = word;
  place.kind = PLUMB_PLACE_WORD;
  // Close below the thread pointer are the thread's own variables.
  Addr thread_pointer = 0;
  VG_(get_shadow_regs_area)
  (thread, reinterpret_cast<UChar*>(&thread_pointer), 0,
   offsetof(VexGuestAMD64State, guest_FS_CONST), sizeof thread_pointer);
  constexpr Addr kThreadVariables = 1 << 20;
  if (word < thread_pointer && thread_pointer - word < kThreadVariables) {
    place.offset = static_cast<Word>(word - thread_pointer);
  }
  if (stack.count == 0) return;
  if (word >= stack.sps[0] - 256 && word < stack.sps[stack.count - 1]) {
    UInt frame = 0;
    while (frame + 1 < stack.count && word >= cfa_of(stack, frame)) ++frame;
    if (cfa_of(stack, frame) != 0) {
      place.kind = PLUMB_PLACE_STACK;
      place.frame = kept_frame(stack, frame);
      place.offset = static_cast<Word>(word - cfa_of(stack, frame));
      if (place.frame == 0) return;  // its own
    }
  }
  if (freeing) {
    find_in_registers(place, thread_state(thread).freeing);
  } else {
    Addr registers[kRegisters];
    VG_(get_shadow_regs_area)
    (thread, reinterpret_cast<UChar*>(registers), 0, offsetof(VexGuestAMD64State, guest_RAX),
     sizeof registers);
    find_in_registers(place, registers);
  }
  find_in_frames(place, stack);
}

void note_registers(Block& it, UShort registers) {
  PlumbPlace& place = place_of(it);
  place.kind = PLUMB_PLACE_REGISTERS;
  for (UInt i = 0; i < kRegisters; ++i) {
    if ((registers >> i & 1) != 0) place.registers |= 1u << kDwarfNumber[i];
  }
}

void forget_place(Block& it) {
  if (it.drop.place == nullptr) return;
  unused.push(it.drop.place);
  it.drop.place = nullptr;
}

}  // namespace plumb::vg
