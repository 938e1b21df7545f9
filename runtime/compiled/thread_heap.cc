#include "compiled/thread_heap.h"

#include <pthread.h>

#include "common/memory.h"
#include "common/trace_file.h"
#include "compiled/arena.h"

namespace plumb::rt {

thread_local constinit ThreadHeap* thread_heap = nullptr;
SpinLock ThreadHeapUse::shared_lock;

namespace {

thread_local constinit bool ended __attribute__((tls_model("initial-exec"))) = false;

ThreadHeap* shared_heap = nullptr;
ThreadHeap* unused_heaps = nullptr;
ThreadHeap* all_heaps = nullptr;
uint32_t thread_count = 0;
SpinLock heaps_lock;
pthread_key_t end_key;

// At the start, or with the lock.
ThreadHeap* new_heap() {
  auto* heap = static_cast<ThreadHeap*>(own_pages(sizeof(ThreadHeap)));
  if (heap == nullptr) return nullptr;
  const uint64_t index = trace().take(PLUMB_SECTION_THREADS, 1);
  if (index == 0) return nullptr;
  heap->counters = trace().threads() + index;
  heap->next_of_all = all_heaps;
  all_heaps = heap;
  return heap;
}

uint64_t latest_end = 0;

void note_end_time(uint64_t time) {
  uint64_t known = __atomic_load_n(&latest_end, __ATOMIC_RELAXED);
  while (known < time && !__atomic_compare_exchange_n(&latest_end, &known, time, true,
                                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

// Runs when the thread ends, before libc's own clean-up, which still frees.
void on_thread_end(void*) {
  Inside in;
  note_end_time(__plumb_clock);
  if (thread_heap == nullptr) return;
  give_up_cache(in);
  ThreadHeap* heap = thread_heap;
  thread_heap = nullptr;
  ended = true;
  heaps_lock.lock();
  heap->next = unused_heaps;
  unused_heaps = heap;
  heaps_lock.unlock();
}

}  // namespace

void continue_after_ended_threads() {
  const uint64_t time = __atomic_load_n(&latest_end, __ATOMIC_ACQUIRE);
  if (__plumb_clock < time) __plumb_clock = time;
}

ThreadHeap* all_thread_heaps() { return all_heaps; }

bool prepare_thread_heaps() {
  shared_heap = new_heap();
  return shared_heap != nullptr && pthread_key_create(&end_key, on_thread_end) == 0;
}

void reset_thread_heaps() {
  // Their unused slots stay unused.
  trace().header().threads_started = 1;
}

ThreadHeap* ThreadHeapUse::attach() {
  if (!ended) {
    heaps_lock.lock();
    ThreadHeap* heap = unused_heaps;
    if (heap != nullptr)
      unused_heaps = heap->next;
    else
      heap = new_heap();
    if (heap != nullptr) {
      heap->thread = ++thread_count;
      heap->span = {};  // another stack
      trace().header().threads_started = thread_count;
    }
    heaps_lock.unlock();
    if (heap != nullptr) {
      thread_heap = heap;
      // The value only has to be there for the destructor to run.
      pthread_setspecific(end_key, heap);
      return heap;
    }
    ended = true;
  }
  shared_lock.lock();
  return shared_heap;
}

}  // namespace plumb::rt
