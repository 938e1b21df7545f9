// For a few instructions at a time, and only with an Inside: a thread that
// holds it is never stopped, so a waiter never waits for a stopped thread.
#pragma once

#include "common/sys.h"

namespace plumb::rt {

class SpinLock {
 public:
  void lock() {
    unsigned tries = 0;
    while (__atomic_exchange_n(&held_, 1, __ATOMIC_ACQUIRE) != 0) {
      if (++tries % 64 == 0)
        sys_call(SYS_sched_yield);
      else
        __builtin_ia32_pause();
    }
  }
  void unlock() { __atomic_store_n(&held_, 0, __ATOMIC_RELEASE); }

 private:
  int held_ = 0;
};

// Until the end of the scope.
class Locked {
 public:
  explicit Locked(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace plumb::rt
