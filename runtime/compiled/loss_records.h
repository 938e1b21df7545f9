// Places of losses, spelt out in the trace: the modules that have their names may
// be gone when somebody reads it.
#pragma once

#include <stdint.h>

namespace plumb::rt {

// The block in the table's entry `block` was lost at this place, and last accessed at
// `use`; 0 for what is not known.
void record_loss(uint32_t block, uint32_t place, uint32_t use);

}  // namespace plumb::rt
