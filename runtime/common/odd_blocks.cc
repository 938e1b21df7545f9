#include "common/odd_blocks.h"

#include "common/memory.h"
#include "common/spin_lock.h"

namespace plumb::rt {

namespace {

OddBlock* blocks = nullptr;  // open addressing; at least half of it is unused
size_t capacity = 0;
size_t used = 0;
SpinLock lock;

size_t home_of(uintptr_t address) {
  return static_cast<size_t>((address >> 4) * 0x9e3779b97f4a7c15u >> 20) & (capacity - 1);
}

// Where it is, or would be.
size_t place_of(uintptr_t address) {
  size_t at = home_of(address);
  while (blocks[at].address != 0 && blocks[at].address != address) at = (at + 1) & (capacity - 1);
  return at;
}

bool grow() {
  OddBlock* const old = blocks;
  const size_t old_capacity = capacity;
  const size_t larger = capacity == 0 ? 256 : capacity * 2;
  auto* room = static_cast<OddBlock*>(own_pages(larger * sizeof(OddBlock)));
  if (room == nullptr) return false;
  blocks = room;
  capacity = larger;
  for (size_t i = 0; i < old_capacity; ++i) {
    if (old[i].address != 0) blocks[place_of(old[i].address)] = old[i];
  }
  if (old != nullptr) release_own_pages(old, old_capacity * sizeof *old);
  return true;
}

// What follows moves up, so that no search ends too early.
void remove(size_t hole) {
  for (size_t at = (hole + 1) & (capacity - 1); blocks[at].address != 0;
       at = (at + 1) & (capacity - 1)) {
    const size_t home = home_of(blocks[at].address);
    if (((at - home) & (capacity - 1)) < ((at - hole) & (capacity - 1))) continue;
    blocks[hole] = blocks[at];
    hole = at;
  }
  blocks[hole] = {};
  --used;
}

}  // namespace

bool note_odd(uintptr_t address, uint8_t flags, uint64_t size) {
  const Locked locked(lock);
  if (used * 2 >= capacity && !grow()) return false;
  OddBlock& block = blocks[place_of(address)];
  if (block.address == 0) {
    ++used;
    block = {address, 0, 0};
  }
  block.flags |= flags;
  if (size != 0) block.size = size;
  return true;
}

OddBlock find_odd(uintptr_t address) {
  const Locked locked(lock);
  return capacity == 0 ? OddBlock{} : blocks[place_of(address)];
}

OddBlock take_odd(uintptr_t address) {
  const Locked locked(lock);
  if (capacity == 0) return {};
  const size_t at = place_of(address);
  const OddBlock block = blocks[at];
  if (block.address != 0) remove(at);
  return block;
}

}  // namespace plumb::rt
