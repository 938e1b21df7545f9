// The hooks that the constructor registers with libc.
#pragma once

#include <stdint.h>

#include "common/scan.h"

namespace plumb::rt {

void end_of_exit(void*);
void end_of_quick_exit();

// Where this thread called abort, if that is what interrupted it at this stack pointer.
bool where_abort_was_called(uintptr_t interrupted, ScanPoint& point);

// Takes over the signals that would end the program.
void prepare_signals();

}  // namespace plumb::rt
