// Does the program's malloc come to us?
#pragma once

#include <stddef.h>

namespace plumb::rt {

// `ours` is the malloc that this library shows. Somebody who stands before us,
// perhaps only to look, and passes calls on is fine: the call arrives
// (Process::arrivals).
bool malloc_is_ours(void* (*ours)(size_t));

}  // namespace plumb::rt
