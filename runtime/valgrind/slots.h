// Slots: the words of memory that refer to watched blocks.
//
// For each word that may be one, a small entry in a table as large as the memory
// that it is about: the pieces of the table are made when a word in them becomes a
// slot. Finding one is two loads. A word without an entry refers to nothing,
// whatever it contains: that is what tells a stale word (in a dead frame, in freed
// memory) from a reference.
// Words on a thread's stack are listed by address as well, so that a return can
// end all that lie below the stack pointer.
#pragma once

#include "valgrind/blocks.h"
#include "valgrind/vector.h"
#include "valgrind/vg.h"

namespace plumb::vg {

enum SlotKind : UChar {
  kOutside = 0,  // counts as a reference from outside
  kInside = 1,   // in the arena: one watched block refers to another
  kSaved = 2,    // a register that a function saved for its caller
};

struct Slot {
  BlockId block;  // 0: unused
  UInt generation : 28;
  UInt kind : 3;
  UInt listed : 1;  // in a thread's list of stack words
};
static_assert(sizeof(Slot) == 8);

// A slot that is no longer in the table.
struct OldSlot : Slot {
  Addr address;
};

class Slots {
 public:
  ULong count() const { return count_; }
  // Null: the word is none.
  Slot* find(Addr word) {
    Chunk* chunk = chunk_of(word);
    if (chunk == nullptr) return nullptr;
    Slot* slot = &chunk->slots[word % kChunkBytes / sizeof(Addr)];
    return slot->block != 0 ? slot : nullptr;
  }
  // The word is not in the table yet.
  Slot* add(Addr word, BlockId block, SlotKind kind);
  OldSlot take(Addr word, Slot* slot) {
    const OldSlot old{{*slot}, word};
    *slot = {};
    --chunk_of(word)->used;
    --count_;
    return old;
  }

  // Every slot there is, as `use(address, slot)`.
  template <typename Use>
  void each(Use use) {
    for (Chunk* chunk : chunks_) {
      for (UInt i = 0; chunk->used != 0 && i < kChunkSlots; ++i) {
        if (chunk->slots[i].block != 0) use(chunk->begin + i * sizeof(Addr), chunk->slots[i]);
      }
    }
  }

  // Slots in [begin, end), removed and handed to `use(slot)`.
  template <typename Use>
  void take_range(Addr begin, Addr end, Use use) {
    Addr at = (begin + 7) & ~Addr{7};
    if (count_ == 0 || at >= end) return;
    if ((end - at) / kChunkBytes > chunks_.count) {  // mostly not there
      for (UInt i = 0; i < chunks_.count; ++i) {
        const Addr first = chunks_[i]->begin;
        const Addr last = first + kChunkBytes;
        if (first < end && last > at) {
          take_in_chunk(chunks_[i], first > at ? first : at, last < end ? last : end, use);
        }
      }
      return;
    }
    while (at < end) {
      const Addr next = (at / kChunkBytes + 1) * kChunkBytes;
      const Addr last = next < end ? next : end;
      if (Chunk* chunk = chunk_of(at); chunk != nullptr) take_in_chunk(chunk, at, last, use);
      at = next;
    }
  }

 private:
  static constexpr UInt kChunkBytes = 1u << 16;  // of the memory it is about
  static constexpr UInt kChunkSlots = kChunkBytes / sizeof(Addr);
  // Below this, where Valgrind puts what the program has, chunks are found directly.
  static constexpr Addr kDirect = Addr{1} << 38;

  struct Chunk {
    Addr begin;
    UInt used;
    Slot slots[kChunkSlots];
  };

  Chunk* chunk_of(Addr word) const {
    if (__builtin_expect(word >= kDirect, 0)) return far_chunk(word);
    return direct_ == nullptr ? nullptr : direct_[word / kChunkBytes];
  }
  Chunk* far_chunk(Addr word) const;
  Chunk* make_chunk(Addr word);

  template <typename Use>
  void take_in_chunk(Chunk* chunk, Addr at, Addr end, Use use) {
    for (; at < end && chunk->used != 0; at += sizeof(Addr)) {
      Slot* slot = &chunk->slots[at % kChunkBytes / sizeof(Addr)];
      if (slot->block != 0) use(take(at, slot));
    }
  }

  Chunk** direct_;
  Vector<Chunk*> chunks_;
  ULong count_;
};

extern Slots slots;

}  // namespace plumb::vg
