// The guard around everything we do in the program's threads.
//
// While a thread holds an Inside it is not stopped for the scan (the stop is
// remembered and happens when the last Inside goes), so the tables are never
// seen half-written. Functions that touch the tables take an Inside&: they
// cannot be called without one.
//
// A signal handler of the program's may call malloc while we are inside; the
// nested guard is not outermost, and such an allocation passes by untracked.
#pragma once

#include <stdint.h>

namespace plumb::rt {

struct ThreadSlot;
struct QuickSites;

struct ThreadState {
  int depth;          // Inside
  int ignoring;       // what it allocates is kept on purpose (plumb.h); nests
  int stop_wanted;    // a stop came while inside
  int signal_wanted;  // a fatal signal came while inside; its number
  QuickSites* quick;  // null: each call is to be done with care
  ThreadSlot* slot;
  int hold;      // Unstoppable
  int own_work;  // libc allocates because we asked it something
  int ended;     // its slot was given back: use the shared one
  // The same in every run: the first thread is 1, and a thread that another one
  // starts is named after that one and how many it had started before. 0: one
  // that was not started by pthread_create.
  uint32_t name;
  uint32_t started;
};

extern thread_local constinit ThreadState thread_state
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

// Not now: neither stop nor end this thread.
inline bool must_postpone(const ThreadState& state) { return (state.depth | state.hold) != 0; }
// Delivers what came meanwhile, if this is the time.
void deliver_postponed(ThreadState& state);

class Inside {
 public:
  Inside() : state_(thread_state) {
    outermost_ = state_.depth++ == 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~Inside() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    --state_.depth;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect((state_.stop_wanted | state_.signal_wanted) != 0, 0)) {
      deliver_postponed(state_);
    }
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  bool outermost() const { return outermost_; }
  ThreadState& thread() { return state_; }

 private:
  ThreadState& state_;
  bool outermost_;
};

// The same where it is known to be the outermost: nothing waits for what it writes.
class QuickInside {
 public:
  QuickInside() {
    thread_state.depth = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~QuickInside() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread_state.depth = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect((thread_state.stop_wanted | thread_state.signal_wanted) != 0, 0)) {
      deliver_postponed(thread_state);
    }
  }
  QuickInside(const QuickInside&) = delete;
  QuickInside& operator=(const QuickInside&) = delete;
};

// Around calls into libc that hold its allocator's locks (fork, malloc_trim) or
// are half done for a while (pthread_create): not stopped there, but what they
// allocate is tracked.
class Unstoppable {
 public:
  Unstoppable() : state_(thread_state) {
    ++state_.hold;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~Unstoppable() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    --state_.hold;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect((state_.stop_wanted | state_.signal_wanted) != 0, 0)) {
      deliver_postponed(state_);
    }
  }
  Unstoppable(const Unstoppable&) = delete;
  Unstoppable& operator=(const Unstoppable&) = delete;

 private:
  ThreadState& state_;
};

}  // namespace plumb::rt
