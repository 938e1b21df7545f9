// A 32-bit word for every 16 bytes of address space, in leaves of 64 MB that are made
// when the first block is put there and committed by the page. While the program runs,
// live_blocks keeps there what is known of each block; during the scan the word of a
// block's start is its index in the block table.
//
// Blocks start at multiples of 16, so there is one load for a free, and a
// pointer that is not ours simply has a 0. 64 MB is also the size to which
// glibc aligns its arena heaps: a leaf never mixes an arena with anything else.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::rt {

inline constexpr unsigned kGranuleBits = 4;
inline constexpr unsigned kLeafBits = 26;
inline constexpr unsigned kAddressBits = 47;
inline constexpr uintptr_t kLeafSize = uintptr_t{1} << kLeafBits;
inline constexpr size_t kLeaves = size_t{1} << (kAddressBits - kLeafBits);
inline constexpr size_t kLeafGranules = size_t{1} << (kLeafBits - kGranuleBits);

class Granules {
 public:
  bool prepare();

  // Makes room for a block there. False: no memory.
  // Not in huge pages: where the host takes free ones back (virtual machines), each of
  // them costs more than the small ones that it stands for.
  bool make_room(uintptr_t address);
  size_t leaf_count() const { return __atomic_load_n(&made_count_, __ATOMIC_ACQUIRE); }
  // Each leaf's number, as they were made.
  uint32_t made(size_t number) const { return made_[number]; }

  uint32_t get(uintptr_t address) const {
    if (address >> kAddressBits != 0) return 0;
    const uint32_t* leaf = __atomic_load_n(&leaves_[address >> kLeafBits], __ATOMIC_ACQUIRE);
    return leaf == nullptr ? 0 : leaf[index(address)];
  }
  // Where the entry is, null when there is no leaf.
  uint32_t* place(uintptr_t address) {
    if (__builtin_expect(address >> kAddressBits != 0, 0)) return nullptr;
    uint32_t* leaf = __atomic_load_n(&leaves_[address >> kLeafBits], __ATOMIC_ACQUIRE);
    return leaf == nullptr ? nullptr : &leaf[index(address)];
  }
  const uint32_t* look(uintptr_t address) const {
    const uint32_t* leaf = __atomic_load_n(&leaves_[address >> kLeafBits], __ATOMIC_RELAXED);
    return leaf == nullptr ? nullptr : &leaf[index(address)];
  }
  // False: no memory for the leaf.
  bool set(uintptr_t address, uint32_t entry) {
    if (address >> kAddressBits != 0) return false;
    uint32_t* leaf = __atomic_load_n(&leaves_[address >> kLeafBits], __ATOMIC_ACQUIRE);
    if (__builtin_expect(leaf == nullptr, 0)) {
      if (!make_room(address)) return false;
      leaf = leaves_[address >> kLeafBits];
    }
    leaf[index(address)] = entry;
    return true;
  }
  void clear(uintptr_t address) { leaves_[address >> kLeafBits][index(address)] = 0; }

  const uint32_t* leaf(size_t number) const { return leaves_[number]; }

 private:
  static size_t index(uintptr_t address) { return (address >> kGranuleBits) & (kLeafGranules - 1); }

  uint32_t** leaves_ = nullptr;
  uint32_t* made_ = nullptr;
  size_t made_count_ = 0;
};

}  // namespace plumb::rt
