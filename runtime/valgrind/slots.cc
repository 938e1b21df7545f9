#include "valgrind/slots.h"

namespace plumb::vg {

Slots slots;

Slot* Slots::find(Addr address) {
  if (count_ == 0) return nullptr;
  for (UInt at = place_of(address);; at = (at + 1) & (capacity_ - 1)) {
    if (table_[at].address == address) return &table_[at];
    if (table_[at].address == 0) return nullptr;
  }
}

void Slots::grow() {
  Slot* old = table_;
  const UInt old_capacity = capacity_;
  capacity_ = capacity_ == 0 ? 1024 : capacity_ * 2;
  table_ = static_cast<Slot*>(VG_(calloc)("plumb.slots", capacity_, sizeof(Slot)));
  for (UInt i = 0; i < old_capacity; ++i) {
    if (old[i].address == 0) continue;
    UInt at = place_of(old[i].address);
    while (table_[at].address != 0) at = (at + 1) & (capacity_ - 1);
    table_[at] = old[i];
  }
  VG_(free)(old);
}

Slot* Slots::add(Addr address, BlockId id, SlotKind kind) {
  if ((count_ + 1) * 2 > capacity_) grow();
  UInt at = place_of(address);
  while (table_[at].address != 0) at = (at + 1) & (capacity_ - 1);
  table_[at] = {address, id, block(id).generation & 0xfffffff, kind, 0};
  ++count_;
  return &table_[at];
}

// Linear probing without gaps: later entries of the run move up.
void Slots::remove(Slot* slot) {
  UInt hole = static_cast<UInt>(slot - table_);
  --count_;
  for (UInt at = (hole + 1) & (capacity_ - 1); table_[at].address != 0;
       at = (at + 1) & (capacity_ - 1)) {
    const UInt home = place_of(table_[at].address);
    const bool stays = ((at - home) & (capacity_ - 1)) < ((at - hole) & (capacity_ - 1));
    if (stays) continue;
    table_[hole] = table_[at];
    hole = at;
  }
  table_[hole].address = 0;
}

}  // namespace plumb::vg
