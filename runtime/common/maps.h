// The process's memory map, as the kernel tells it to the calling thread.
#pragma once

#include <stdint.h>

#include "common/memory.h"

namespace plumb::rt {

struct Mapping {
  Range range;
  bool readable;
  bool writable;
  bool shared;
  bool anonymous;
  bool heap;     // [heap]: grown by brk
  bool stack;    // [stack]: of the first thread
  bool special;  // the kernel's own, or a device: reading may be wrong or dangerous
};

// In the order of addresses. False when the map cannot be read.
bool read_maps(OwnVector<Mapping>& mappings);

// The mapping around an address, or null.
const Mapping* mapping_at(const OwnVector<Mapping>& mappings, uintptr_t address);

}  // namespace plumb::rt
