#include "common/granules.h"

#include "common/memory.h"

namespace plumb::rt {

namespace {

// One word more: what is known of a block is in two words, and its start may be the
// last of the leaf.
constexpr size_t kLeafBytes = kLeafGranules * sizeof(uint32_t) + kPage;

}  // namespace

bool Granules::prepare() {
  leaves_ = static_cast<uint32_t**>(own_pages(kLeaves * sizeof(uint32_t*)));
  made_ = static_cast<uint32_t*>(own_pages(kLeaves * sizeof(uint32_t)));
  return leaves_ != nullptr && made_ != nullptr;
}

bool Granules::make_room(uintptr_t address) {
  if (address >> kAddressBits != 0) return false;
  const size_t number = address >> kLeafBits;
  if (__atomic_load_n(&leaves_[number], __ATOMIC_ACQUIRE) != nullptr) return true;
  auto* leaf = static_cast<uint32_t*>(own_pages(kLeafBytes));
  if (leaf == nullptr) return false;
  uint32_t* expected = nullptr;
  if (!__atomic_compare_exchange_n(&leaves_[number], &expected, leaf, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    release_own_pages(leaf, kLeafBytes);  // another thread was first
    return true;
  }
  // Those who read the list have stopped everybody who writes it.
  made_[__atomic_fetch_add(&made_count_, 1, __ATOMIC_ACQ_REL)] = static_cast<uint32_t>(number);
  return true;
}

}  // namespace plumb::rt
