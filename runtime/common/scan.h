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

// What a runtime adds to the scan; each may be null.
struct ScanHooks {
  void (*leaving)();   // exit was called, or main returned; the handlers come next
  bool (*fill)();      // the world is stopped: put all blocks into the table; false: no room
  void (*judged)();    // every block has its verdict; at the end only
  void (*finished)();  // the trace is complete
  void (*resumed)();   // it was not the end: the program goes on
};
extern ScanHooks scan_hooks;

// The same in the middle: calls use(context) while the world is stopped and every
// block has its verdict, and then takes all of it back. False: nothing was called,
// the program is ending or was never tracked.
bool scan_and_go_on(const ScanPoint& point, void (*use)(void* context), void* context);

// exec failed: the program goes on, and so does the tracking.
void resume_after_scan();

// Stops the other threads where none of them is at work in our tables. False: somebody
// else looks, or the program is ending. go_on() is next, in a forked child, too.
bool pause_world(struct StopResult& stopped);
void go_on();

// The index that the scan built, for what the hooks want to look up.
const class BlockIndex& scan_index();

// True from the first call of scan_at_end to the end of the scan.
bool scan_is_on();
bool scan_is_over();

}  // namespace plumb::rt
