// Which entry of the block table belongs to an address: a 32-bit entry index
// for every 16 bytes of address space, in leaves of 64 MB that are made when
// the first block is put there and committed by the page.
//
// Blocks start at multiples of 16, so there is one load for a free, and a
// pointer that is not ours simply has index 0. 64 MB is also the size to which
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
      leaf = make_leaf(address >> kLeafBits);
      if (leaf == nullptr) return false;
    }
    leaf[index(address)] = entry;
    return true;
  }
  void clear(uintptr_t address) { leaves_[address >> kLeafBits][index(address)] = 0; }

  const uint32_t* leaf(size_t number) const { return leaves_[number]; }

 private:
  static size_t index(uintptr_t address) { return (address >> kGranuleBits) & (kLeafGranules - 1); }
  uint32_t* make_leaf(size_t number);

  uint32_t** leaves_ = nullptr;
};

}  // namespace plumb::rt
