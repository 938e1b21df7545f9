#include "common/granules.h"

#include "common/memory.h"
#include "common/sys.h"

namespace plumb::rt {

namespace {

// One word more: what is known of a block is in two words, and its start may be the
// last of the leaf.
constexpr size_t kLeafBytes = kLeafGranules * sizeof(uint32_t) + kPage;

constexpr uintptr_t kHugePage = uintptr_t{2} << 20;

// A page costs microseconds, a huge one not much more than the zeros in it. The first
// two megabytes stay as they are: most programs need no more than a few pages of them.
void use_huge_pages(const uint32_t* leaf, const uint32_t* first) {
  const uintptr_t end = reinterpret_cast<uintptr_t>(leaf) + kLeafBytes;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(first) + kHugePage) & ~(kHugePage - 1);
  if (begin + kHugePage <= end) {
    sys_call(SYS_madvise, static_cast<long>(begin), static_cast<long>(end - begin), MADV_HUGEPAGE);
  }
}

}  // namespace

bool Granules::prepare() {
  leaves_ = static_cast<uint32_t**>(own_pages(kLeaves * sizeof(uint32_t*)));
  made_ = static_cast<uint32_t*>(own_pages(kLeaves * sizeof(uint32_t)));
  return leaves_ != nullptr && made_ != nullptr;
}

bool Granules::make_room(uintptr_t address, bool dense) {
  if (address >> kAddressBits != 0) return false;
  const size_t number = address >> kLeafBits;
  if (__atomic_load_n(&leaves_[number], __ATOMIC_ACQUIRE) != nullptr) return true;
  auto* leaf = static_cast<uint32_t*>(own_pages(kLeafBytes));
  if (leaf == nullptr) return false;
  if (dense) use_huge_pages(leaf, leaf + index(address));
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
