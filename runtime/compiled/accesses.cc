#include "compiled/accesses.h"

#include <stdint.h>

#include "compiled/layout.h"
#include "compiled/options.h"
#include "preload/export.h"

namespace plumb::rt {

namespace {

bool built = false;
constexpr uint64_t kNoArena = ~uint64_t{0};  // as in plugin/abi.h

}  // namespace

bool accesses_are_built() { return __atomic_load_n(&built, __ATOMIC_RELAXED); }

}  // namespace plumb::rt

using namespace plumb::rt;

// Called by each module that notes accesses, before its other constructors.
PLUMB_EXPORT void __plumb_register_access_1(uint64_t* arena) {
  __atomic_store_n(&built, true, __ATOMIC_RELAXED);
  *arena = options().last_use == LastUse::pointer ? kNoArena : kArenaNumber;
}
