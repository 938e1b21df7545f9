// A program that is out of addresses or descriptors by its own limits (RLIMIT_AS,
// RLIMIT_NOFILE) must not keep us from looking: up to its hard limit we take what we need.
#pragma once

#include <sys/resource.h>

#include "common/sys.h"

namespace plumb::rt {

class LiftedLimit {
 public:
  explicit constexpr LiftedLimit(int resource) : resource_(resource) {}
  // False: it is as high as it can be.
  bool lift() {
    if (is_error(sys_call(SYS_prlimit64, 0, resource_, 0, reinterpret_cast<long>(&old_)))) {
      old_ = {RLIM_INFINITY, RLIM_INFINITY};
    }
    if (old_.rlim_cur == old_.rlim_max && resource_ != RLIMIT_NOFILE) return false;
    rlimit most = {old_.rlim_max, old_.rlim_max};
    // A few descriptors more, if we have the right.
    if (old_.rlim_cur == old_.rlim_max && old_.rlim_max < kFew) most = {kFew, kFew};
    return !is_error(sys_call(SYS_prlimit64, 0, resource_, reinterpret_cast<long>(&most)));
  }
  void restore() {
    if (old_.rlim_cur == old_.rlim_max && resource_ != RLIMIT_NOFILE) return;
    sys_call(SYS_prlimit64, 0, resource_, reinterpret_cast<long>(&old_));
  }

 private:
  static constexpr rlim_t kFew = 1u << 16;
  int resource_;
  rlimit old_ = {RLIM_INFINITY, RLIM_INFINITY};
};

}  // namespace plumb::rt
