#include "valgrind/parts.h"

#include "valgrind/vector.h"

namespace plumb::vg {

Addr parts_begin = 0;
ULong parts_size = 0;

namespace {

Vector<BlockId> parts;  // by address; they do not overlap

// The first that begins behind this address.
UInt first_after(Addr address) {
  UInt low = 0;
  UInt high = parts.count;
  while (low < high) {
    const UInt middle = low + (high - low) / 2;
    if (block(parts[middle]).address <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void note_bounds() {
  if (parts.count == 0) {
    parts_size = 0;
    return;
  }
  const Block& last = block(parts.last());
  parts_begin = block(parts[0]).address;
  parts_size = last.address + last.size + 1 - parts_begin;
}

}  // namespace

BlockId find_part(Addr value) {
  const UInt after = first_after(value);
  if (after == 0) return 0;
  const BlockId id = parts[after - 1];
  return value <= block(id).address + block(id).size ? id : 0;
}

BlockId add_part(Addr address, SizeT size) {
  const UInt at = first_after(address);
  if (at != 0) {
    const Block& before = block(parts[at - 1]);
    if (before.address == address || before.address + before.size > address) return 0;
  }
  if (at < parts.count && block(parts[at]).address < address + size) return 0;
  const BlockId id = new_id();
  Block& fresh = block(id);
  fresh.address = address;
  fresh.size = size;
  fresh.is_part = true;
  parts.insert(at, id);
  const bool is_first = parts_size == 0;
  note_bounds();
  if (is_first) VG_(discard_translations_safely)(0, ~ULong{0} >> 1, "plumb");
  return id;
}

void remove_part(BlockId id) {
  const UInt at = first_after(block(id).address) - 1;
  tl_assert(at < parts.count && parts[at] == id);
  for (UInt i = at + 1; i < parts.count; ++i) parts[i - 1] = parts[i];
  parts.pop();
  note_bounds();
  // Words that still refer to it mean nothing.
  ++block(id).generation;
}

BlockId part_at(Addr address) {
  const BlockId id = parts_size == 0 ? 0 : find_part(address);
  return id != 0 && block(id).address == address ? id : 0;
}

bool is_in_part(Addr word) {
  if (word - parts_begin >= parts_size) return false;
  const BlockId id = find_part(word);
  return id != 0 && word < block(id).address + block(id).size;
}

UInt part_count() { return parts.count; }
BlockId nth_part(UInt number) { return parts[number]; }

UInt first_part_behind(Addr address) {
  const UInt after = first_after(address);
  if (after == 0) return 0;
  const Block& before = block(parts[after - 1]);
  return before.address + before.size > address ? after - 1 : after;
}

}  // namespace plumb::vg
