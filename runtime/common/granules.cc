#include "common/granules.h"

#include "common/memory.h"

namespace plumb::rt {

bool Granules::prepare() {
  leaves_ = static_cast<uint32_t**>(own_pages(kLeaves * sizeof(uint32_t*)));
  return leaves_ != nullptr;
}

uint32_t* Granules::make_leaf(size_t number) {
  constexpr size_t kBytes = kLeafGranules * sizeof(uint32_t);
  uint32_t* leaf = static_cast<uint32_t*>(own_pages(kBytes));
  if (leaf == nullptr) return nullptr;
  uint32_t* expected = nullptr;
  if (!__atomic_compare_exchange_n(&leaves_[number], &expected, leaf, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    release_own_pages(leaf, kBytes);  // another thread was first
    return expected;
  }
  return leaf;
}

}  // namespace plumb::rt
