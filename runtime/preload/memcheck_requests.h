// Allocators that are annotated for memcheck (valgrind.h: VALGRIND_MALLOCLIKE_BLOCK, memory
// pools), when everything is watched from the start. Only Valgrind sees such a request; our
// tool makes the thread that asked call the entry below, as if it stood in the program.
#pragma once

#include <stdint.h>

namespace plumb::rt {

// Where the tool sends a thread (watch::Start::forward). The word at its stack pointer, below
// the red zone of the function that asked, is where to go on.
uintptr_t memcheck_request_entry();

}  // namespace plumb::rt
