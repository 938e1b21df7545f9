// Threads and unloaded modules.

#include <dlfcn.h>

#include "common/inside.h"
#include "common/memory.h"
#include "common/modules.h"
#include "common/process.h"
#include "common/spin_lock.h"
#include "common/stop_world.h"
#include "common/thread_stacks.h"
#include "common/watcher.h"
#include "preload/export.h"
#include "preload/thread_hooks.h"

using namespace plumb::rt;

ThreadHooks plumb::rt::thread_hooks{};

namespace {

// What a new thread is to run. The argument may be the only reference to a
// block until the thread has started: these pages are roots.
struct Start {
  void* (*function)(void*);
  void* argument;
  uint64_t hook;
  Start* next;
  uint32_t name;
};
Start* unused_starts = nullptr;
SpinLock starts_lock;

Start* take_start(Inside&) {
  starts_lock.lock();
  if (unused_starts == nullptr) {
    constexpr size_t kBytes = 16 * kPage;
    Start* fresh = static_cast<Start*>(ordinary_pages(kBytes));
    for (size_t i = 0; fresh != nullptr && i < kBytes / sizeof(Start); ++i) {
      fresh[i].next = unused_starts;
      unused_starts = &fresh[i];
    }
  }
  Start* start = unused_starts;
  if (start != nullptr) unused_starts = start->next;
  starts_lock.unlock();
  return start;
}

void give_start(Inside&, Start* start) {
  starts_lock.lock();
  *start = {nullptr, nullptr, 0, unused_starts, 0};  // no stale reference
  if (watching()) watch_stored(&start->argument);
  unused_starts = start;
  starts_lock.unlock();
}

void* run_thread(void* argument) {
  Start* start = static_cast<Start*>(argument);
  const Start copy = *start;
  {
    Inside in;
    in.thread().name = copy.name;
    note_thread_start(in);
    give_start(in, start);  // last: until then it holds the argument
  }
  if (thread_hooks.started != nullptr) thread_hooks.started(copy.hook);
  if (!watching()) return copy.function(copy.argument);
  watch_thread_begins(false);
  void* result = copy.function(copy.argument);
  __asm__ volatile("" : "+r"(result));  // not a tail call: our frame must stay
  return result;
}

uint32_t next_name(ThreadState& state) {
  const uint64_t mixed = (uint64_t{state.name} << 32 | ++state.started) * 0x9e3779b97f4a7c15u;
  const uint32_t name = static_cast<uint32_t>(mixed >> 32);
  return name > 1 ? name : 2;
}

}  // namespace

PLUMB_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                void* (*function)(void*), void* argument) noexcept {
  if (!tracking()) return real().pthread_create(thread, attributes, function, argument);
  Unstoppable hold;
  Start* start = nullptr;
  {
    Inside in;
    start = take_start(in);
  }
  if (start == nullptr) return real().pthread_create(thread, attributes, function, argument);
  start->function = function;
  start->argument = argument;
  start->name = next_name(thread_state);
  if (watching()) watch_stored(&start->argument);
  start->hook = thread_hooks.creating != nullptr ? thread_hooks.creating() : 0;
  const int result = real().pthread_create(thread, attributes, run_thread, start);
  listen_again();
  if (result != 0) {
    Inside in;
    give_start(in, start);
  }
  return result;
}

PLUMB_EXPORT int dlclose(void* handle) noexcept {
  const int result = real().dlclose(handle);
  if (tracking()) {
    Inside in;
    if (in.outermost()) modules_changed(in);
  }
  return result;
}
