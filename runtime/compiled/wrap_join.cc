// Waiting for a thread's end: what happens afterwards is later than all that it did.
//
// Each thread counts its own time (layout.h). References to different blocks of one
// cycle, or to different parts of a block, are compared by time; when the thread that
// made them has ended and another goes on with them, its time must not lie behind.

#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "common/process.h"
#include "compiled/layout.h"
#include "compiled/thread_heap.h"
#include "preload/export.h"

using namespace plumb::rt;

namespace {

template <typename Function>
Function next(Function& known, const char* name) {
  if (known == nullptr) known = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  return known;
}

int went_on(int result) {
  if (result == 0 && tracking()) continue_after_ended_threads();
  return result;
}

}  // namespace

PLUMB_EXPORT int pthread_join(pthread_t thread, void** result) {
  static int (*real)(pthread_t, void**) = nullptr;
  return went_on(next(real, "pthread_join")(thread, result));
}
PLUMB_EXPORT int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  static int (*real)(pthread_t, void**) = nullptr;
  return went_on(next(real, "pthread_tryjoin_np")(thread, result));
}
PLUMB_EXPORT int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* limit) {
  static int (*real)(pthread_t, void**, const timespec*) = nullptr;
  return went_on(next(real, "pthread_timedjoin_np")(thread, result, limit));
}
PLUMB_EXPORT int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                                      const timespec* limit) {
  static int (*real)(pthread_t, void**, clockid_t, const timespec*) = nullptr;
  return went_on(next(real, "pthread_clockjoin_np")(thread, result, clock, limit));
}
PLUMB_EXPORT int thrd_join(thrd_t thread, int* result) {
  static int (*real)(thrd_t, int*) = nullptr;
  return went_on(next(real, "thrd_join")(thread, result));
}
