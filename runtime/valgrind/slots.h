// Slots: the words of memory that refer to watched blocks.
//
// A hash table from the word's address to the block. A word that is not in it
// refers to nothing, whatever it contains: that is what tells a stale word (in
// a dead frame, in freed memory) from a reference.
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
  Addr address;  // 0: unused
  BlockId block;
  UInt generation : 28;
  UInt kind : 3;
  UInt listed : 1;  // in a thread's list of stack words
};

class Slots {
 public:
  UInt count() const { return count_; }
  Slot* find(Addr address);
  // The word is not in the table yet.
  Slot* add(Addr address, BlockId block, SlotKind kind);
  void remove(Slot* slot);

  template <typename Use>
  void each(Use use) const {
    for (UInt i = 0; i < capacity_; ++i) {
      if (table_[i].address != 0) use(table_[i]);
    }
  }

  // Slots in [begin, end), removed and handed to `use(slot)`; any order.
  template <typename Use>
  void take_range(Addr begin, Addr end, Use use) {
    if (count_ == 0 || begin >= end) return;
    const Addr first = (begin + 7) & ~Addr{7};
    if ((end - first) / 8 <= capacity_) {
      for (Addr at = first; at < end && count_ != 0; at += 8) {
        Slot* slot = find(at);
        if (slot == nullptr) continue;
        const Slot copy = *slot;
        remove(slot);
        use(copy);
      }
      return;
    }
    // Collected first: removing moves entries.
    Vector<Addr> found{};
    for (UInt i = 0; i < capacity_; ++i) {
      if (table_[i].address >= begin && table_[i].address < end) found.push(table_[i].address);
    }
    for (Addr at : found) {
      Slot* slot = find(at);
      const Slot copy = *slot;
      remove(slot);
      use(copy);
    }
    found.release();
  }

 private:
  UInt place_of(Addr address) const {
    return static_cast<UInt>((address >> 3) * 0x9e3779b97f4a7c15u >> 32) & (capacity_ - 1);
  }
  void grow();

  Slot* table_;
  UInt capacity_;
  UInt count_;
};

extern Slots slots;

}  // namespace plumb::vg
