// Where the stacks of threads are, dead ones too: glibc keeps the stacks of
// ended threads for the next ones, full of stale references.
//
// struct pthread knows its stack's start; where in it is found out once, in the
// first thread that is started, by asking libc and looking for the answer.
// Without that nothing is excluded: the scan then misses leaks, never invents
// them.
#pragma once

#include <stdint.h>

#include "common/inside.h"
#include "common/maps.h"
#include "common/stop_world.h"

namespace plumb::rt {

// Below the stack pointer of a thread that was interrupted, still in use. One
// that called its way out of the program uses nothing below its frame.
inline constexpr uintptr_t kRedZone = 128;

bool prepare_thread_stacks();

// In a new thread, before its function runs.
void note_thread_start(Inside& in);

// Between main's caller and where the first thread began lie frames of libc
// alone: nothing of the program, but stale words of constructors. Below
// `frame` is the first thread's own work: all of that is dead when the thread
// has ended before the process.
void note_main_frame(uintptr_t frame, uintptr_t stack_end);

// Adds what is below the stack pointer of each thread, and the whole stack of
// each thread that has ended.
void dead_stack_ranges(const StopResult& threads, uintptr_t own_stack_pointer,
                       uintptr_t own_thread_pointer, const OwnVector<Mapping>& mappings,
                       OwnVector<Range>& dead);

}  // namespace plumb::rt
