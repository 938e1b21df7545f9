// The end of the program: says which blocks are lost, in the trace.
#pragma once

#include <stdint.h>

#include "common/memory.h"
#include "trace/record.h"

namespace plumb::rt {

// Where the calling thread's live memory begins: the frames below are ours or
// already over.
struct ScanPoint {
  uintptr_t stack_pointer;
  Range registers;  // words saved by whoever called us
  Range vectors;
};

// Stops the other threads, gives every block its verdict, and ends the
// tracking. Only the first call does anything, and only in the traced process.
// The other threads stay stopped until release_world().
// `end` is a PlumbEnd. False when there is nothing to release.
bool scan_at_end(uint32_t end, uint32_t detail, const char* text, const ScanPoint& point);

// exec failed: the program goes on, and so does the tracking.
void resume_after_scan();

// True from the first call of scan_at_end to the end of the scan.
bool scan_is_on();
bool scan_is_over();

}  // namespace plumb::rt
