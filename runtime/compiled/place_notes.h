// Places that are only known at run time: a place of the compiler's together with
// an offset (which field of the freed block held it) and a stack. Each is kept
// once and has a number, as the compiler's places do.
#pragma once

#include <stdint.h>

#include "common/inside.h"
#include "trace/record.h"

namespace plumb::rt {

// An offset that is not known any more.
inline constexpr uint32_t kSomewhere = UINT32_MAX;

// Each thread keeps the numbers that it asked for last.
inline constexpr unsigned kKnownNotes = 512;

struct PlaceNote {
  uint32_t place;  // number of the compiler's, or 0
  uint32_t stack;  // id, or 0
  uint32_t offset;
  uint32_t cause;  // PlumbCause; PLUMB_CAUSE_NONE: as the place says
};

struct KnownNote {
  PlaceNote note;
  uint32_t number;  // 0: none
};

bool prepare_place_notes();

// Its number, or 0 when there is no room.
uint32_t note_place(Inside& in, const PlaceNote& note);
// Room for such that hardly anybody will ask for: each element of a large array.
bool notes_are_few();
// Null for a number that is none of ours.
const PlaceNote* noted_place(uint32_t number);

}  // namespace plumb::rt
