// A program that is out of addresses by its own limit (RLIMIT_AS) must not keep us
// from looking: up to its hard limit we take what we need.
#pragma once

#include <sys/resource.h>

#include "common/sys.h"

namespace plumb::rt {

class AddressLimit {
 public:
  // False: it is as high as it can be.
  bool lift() {
    if (is_error(sys_call(SYS_prlimit64, 0, RLIMIT_AS, 0, reinterpret_cast<long>(&old_)))) {
      old_ = {RLIM_INFINITY, RLIM_INFINITY};
    }
    if (old_.rlim_cur == old_.rlim_max) return false;
    const rlimit most = {old_.rlim_max, old_.rlim_max};
    return !is_error(sys_call(SYS_prlimit64, 0, RLIMIT_AS, reinterpret_cast<long>(&most)));
  }
  void restore() {
    if (old_.rlim_cur == old_.rlim_max) return;
    sys_call(SYS_prlimit64, 0, RLIMIT_AS, reinterpret_cast<long>(&old_));
  }

 private:
  rlimit old_ = {RLIM_INFINITY, RLIM_INFINITY};
};

}  // namespace plumb::rt
