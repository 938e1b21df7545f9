#include "run/own_limits.h"

#include <algorithm>

namespace plumb {

namespace {

void raise_to(__rlimit_resource resource, const rlimit& old, rlim_t wanted) {
  if (old.rlim_cur >= wanted) return;
  // Beyond the hard limit only with rights.
  rlimit fresh{wanted, std::max(old.rlim_max, wanted)};
  if (setrlimit(resource, &fresh) == 0) return;
  fresh = {std::min(wanted, old.rlim_max), old.rlim_max};
  setrlimit(resource, &fresh);
}

}  // namespace

bool OwnLimits::is_stack_small() {
  rlimit now{};
  return getrlimit(RLIMIT_STACK, &now) == 0 && now.rlim_cur < (rlim_t{1} << 20);
}

OwnLimits* OwnLimits::in_force_ = nullptr;

OwnLimits::OwnLimits() {
  if (in_force_) return;
  in_force_ = this;
  getrlimit(RLIMIT_FSIZE, &file_size_);
  getrlimit(RLIMIT_STACK, &stack_);
  raise_to(RLIMIT_FSIZE, file_size_, RLIM_INFINITY);
  raise_to(RLIMIT_STACK, stack_, rlim_t{8} << 20);
  // What is still too large fails, and says so.
  struct sigaction ignored{};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignored, &file_signal_);
}

OwnLimits::~OwnLimits() {
  if (in_force_ != this) return;
  put_back();
  in_force_ = nullptr;
}

void OwnLimits::put_back() {
  if (!in_force_) return;
  setrlimit(RLIMIT_FSIZE, &in_force_->file_size_);
  setrlimit(RLIMIT_STACK, &in_force_->stack_);
  sigaction(SIGXFSZ, &in_force_->file_signal_, nullptr);
}

}  // namespace plumb
