// The child of a fork is not tracked (common/process.h). Holding off the stop
// matters: fork has all of malloc's locks for a while.

#include <unistd.h>

#include "common/inside.h"
#include "preload/export.h"

extern "C" pid_t __fork();

using namespace plumb::rt;

PLUMB_EXPORT pid_t fork() noexcept {
  Unstoppable hold;
  return __fork();
}
