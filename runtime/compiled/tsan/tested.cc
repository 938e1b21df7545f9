#include "compiled/tsan/tested.h"

#include <stdlib.h>

#include "compiled/arena.h"
#include "compiled/drop.h"
#include "preload/export.h"

using namespace plumb::rt;

extern "C" void __plumb_drop(uint64_t hidden, const PlumbSite* site);

namespace {

// A table of one place, as a module of the program has it.
PlumbSite site = {};

void count(void* context, void*) { ++*static_cast<unsigned long*>(context); }

PLUMB_SHADOW void count_dropped(void* context, void* block) {
  // A new block has none, whatever the clocks of the threads say.
  if (*shadow_of(reinterpret_cast<uint64_t>(block)) != 0) ++*static_cast<unsigned long*>(context);
}

}  // namespace

extern "C" void __plumb_register_3(const PlumbSite* begin, const PlumbSite* end, uint64_t* bias);
__attribute__((constructor)) static void enter() {
  static uint64_t bias = 0;
  __plumb_register_3(&site, &site + 1, &bias);
}

PLUMB_EXPORT void* plumb_tested_malloc(size_t size) { return malloc(size); }
PLUMB_EXPORT void* plumb_tested_realloc(void* block, size_t size) { return realloc(block, size); }
PLUMB_EXPORT void plumb_tested_free(void* block) { free(block); }
PLUMB_EXPORT void plumb_tested_drop(void* block) {
  if (is_tracked(reinterpret_cast<uint64_t>(block))) {
    __plumb_drop(~reinterpret_cast<uint64_t>(block), &site);
  }
}
PLUMB_EXPORT unsigned long plumb_tested_blocks() {
  unsigned long blocks = 0;
  for_each_block(count, &blocks);
  return blocks;
}
PLUMB_EXPORT unsigned long plumb_tested_dropped() {
  unsigned long blocks = 0;
  for_each_block(count_dropped, &blocks);
  return blocks;
}
