// The limits that the user set (ulimit) are the program's, not ours: the trace is a large
// file with holes, and readers of debug information need more stack than many programs.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace plumb {

// Raises what can be raised, for as long as it lives. Inside of another one it does nothing.
class OwnLimits {
 public:
  OwnLimits();
  ~OwnLimits();
  OwnLimits(const OwnLimits&) = delete;
  OwnLimits& operator=(const OwnLimits&) = delete;

  // The stack could not be raised: what needs more has to have one of its own.
  static bool is_stack_small();
  // In a child between fork and exec: all as it was.
  static void put_back();

 private:
  static OwnLimits* in_force_;

  rlimit file_size_{};
  rlimit stack_{};
  struct sigaction file_signal_{};
};

}  // namespace plumb
