// Places of losses, spelt out in the trace: the modules that have their names may
// be gone when somebody reads it.
#pragma once

#include <stdint.h>

namespace plumb::rt {

// The block in the table's entry `block` was lost at this place, and last accessed at
// `access`; 0 for what is not known. Where no access is, the place's function may know
// how it used the pointer last, if the reference that went there was one to this very
// block (`is_own`; in a cycle it can be another one).
void record_loss(uint32_t block, uint32_t place, bool is_own, uint32_t access);

}  // namespace plumb::rt
