// What /proc says about the threads of this process.
#pragma once

#include <stdint.h>

#include "common/stop_world.h"

namespace plumb::rt {

bool list_threads(OwnVector<int>& tids);

struct TaskState {
  char letter;       // R, S, D, T, t, Z, X; 0: no such thread
  uint64_t blocked;  // signals
  bool shut_in;      // by a filter for system calls
};
TaskState task_state(int tid);

// Stack pointer and system-call arguments of a thread that is asleep. False
// when it is running after all.
bool task_words(int tid, StoppedThread& thread);

}  // namespace plumb::rt
