// Under the Valgrind tool: tells it which blocks to watch, and what the program
// does that only we know. Everywhere else all of this is off and costs a test
// of an address.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/names.h"
#include "common/scan.h"
#include "common/watch_protocol.h"

namespace plumb::rt {

// Also true in forked children: they have watched blocks, too.
extern int watching_on;
inline bool watching() { return __builtin_expect(watching_on != 0, 0); }

// Only what is on the list matters: other blocks need no entry in the table.
extern int watching_few;
inline bool only_watched_matter() { return __builtin_expect(watching_few != 0, 0); }

inline bool is_watched(const void* block) {
  return __builtin_expect(watch::in_arena(reinterpret_cast<uintptr_t>(block)), 0) && watching();
}

// Takes over the file with the list. False: not under the tool. `forward` is for requests to
// memcheck (watch::Start) and counts only when everything is watched: names of blocks come
// from runs in which such requests do nothing.
bool start_watching(int file, uintptr_t forward);

// Sets the next ordinal of this name that is wanted.
void find_wants(Inside& in, uint32_t thread, Name& name);

// Null: no room, take an ordinary block. Zeroed. `kept`: only its last use matters.
void* watch_allocate(size_t size, size_t alignment, bool kept);
// The program gets it now. Said again after libc worked for us meanwhile: the tool
// follows libc's registers, and not what we keep on the stack.
void watch_arrives(void* block);
void watch_free(void* block);
size_t watch_size(const void* block);
// A block of an allocator of the program's own, and its end.
void watch_part_begins(uintptr_t address, size_t size);
void watch_part_ends(uintptr_t address);
// We stored a reference for the program.
void watch_stored(const void* word);
// False: nothing there refers to a watched block. Asking the tool costs as much as looking
// at many words, and most blocks are small and refer to nothing that is watched.
bool may_hold_watched(const void* begin, size_t size);
// Memory that may have references in it is about to be given back.
void watch_range_dies(const void* begin, size_t size);
// In the function that calls main or the thread's function, right before it does.
void watch_thread_begins(bool is_main);

// How many of the watched blocks are lost now; those that were counted are not counted again
// when `then` is not 0.
watch::Count watch_count_lost(const ScanPoint& point, int then);

// The end: verdicts and stacks into the trace.
void watch_verdicts(const ScanPoint& point);

}  // namespace plumb::rt
