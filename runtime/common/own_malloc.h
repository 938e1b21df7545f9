// Whose malloc is it: ours, glibc's, or another one?
#pragma once

#include <stddef.h>

namespace plumb::rt {

// `ours` is the malloc that this library shows. Somebody who stands before us,
// perhaps only to look, and passes calls on is fine: the call arrives
// (Process::arrivals).
bool malloc_is_ours(void* (*ours)(size_t));

// Is this function in glibc itself? Its inner names do not tell: tcmalloc defines
// __libc_malloc as well.
bool is_libc(const void* function);

}  // namespace plumb::rt
