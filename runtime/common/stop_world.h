// Stops all other threads for the scan, without ptrace, and tells where their
// stacks and registers are.
//
// Each thread gets signal 33, which libc keeps for itself: programs can neither
// block nor wait for it. The handler publishes its context and waits until it
// is released. A thread inside one of our wrappers answers when it comes out.
//
// How long to wait is never a matter of time alone: a thread that can run is
// waited for. A thread asleep with the signal blocked at the lowest level (libc
// does that for moments) is taken as it lies: its stack pointer and system-call
// arguments are known, its other registers are not. A thread that sleeps inside
// a wrapper waits for a lock that a stopped thread holds: everybody is released
// for a moment and the stop is tried again.
#pragma once

#include <stdint.h>

#include "common/memory.h"

namespace plumb::rt {

struct StoppedThread {
  int tid;
  uintptr_t stack_pointer;   // 0: unknown
  uintptr_t thread_pointer;  // 0: unknown
  Range context;             // registers, in the thread's own memory
  Range vectors;
  uint64_t words[9];  // system-call arguments, when there is no context
  unsigned word_count;
};

struct StopResult {
  OwnVector<StoppedThread> threads;
  unsigned unanswered = 0;
  unsigned rounds = 0;
  bool all_known = true;  // every thread's stack pointer is known
};

void stop_world(StopResult& result);
void release_world();

// The same signal with the value PLUMB_ASK_VALUE is a question from outside:
// `on_ask` is called with the ucontext_t of the thread that got it.
void listen_for_questions(void (*on_ask)(void* context));
// libc has a handler of its own, which it installs with the first thread.
void listen_again();
// For a thread that put a question off.
void ask_again();

// For a thread that put a stop off: stops now, if it is still wanted.
void stop_if_wanted();

}  // namespace plumb::rt
