// The limits that the user set (ulimit) are the program's, not ours: the trace is a large
// file with holes, and readers of debug information need more stack than many programs.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace plumb {

class OwnLimits {
 public:
  // Raises what can be raised, the first time.
  static OwnLimits& raised();
  // The stack could not be raised: what needs more has to have one of its own.
  static bool is_stack_small();
  // In a child between fork and exec: all as it was.
  void put_back() const;

 private:
  OwnLimits();

  rlimit file_size_{};
  rlimit stack_{};
  struct sigaction file_signal_{};
};

}  // namespace plumb
