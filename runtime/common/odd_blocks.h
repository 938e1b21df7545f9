// What does not fit into a block's granules (live_blocks.h), for the few blocks that have
// such a thing: flags of annotations, a size that nothing else says.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::rt {

struct OddBlock {
  uintptr_t address;  // 0: unused
  uint64_t size;      // where the site does not say
  uint8_t flags;      // of PlumbBlock
};

// Makes one if there is none, and adds the flags. Size 0: as it was. False: no room.
bool note_odd(uintptr_t address, uint8_t flags, uint64_t size);
// Size and flags 0: there is none.
OddBlock find_odd(uintptr_t address);
OddBlock take_odd(uintptr_t address);

}  // namespace plumb::rt
