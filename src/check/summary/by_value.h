// Something known of values, looked up by their number: what nothing was said of has T{}.
#pragma once

#include <vector>

#include "check/summary/value.h"

namespace plumb::check {

template <typename T>
class ByValue {
 public:
  T operator[](ValueId id) const { return id.index < known_.size() ? known_[id.index] : T{}; }

  void set(ValueId id, T what) {
    if (id.index >= known_.size()) known_.resize(id.index + 1);
    known_[id.index] = what;
  }

 private:
  std::vector<T> known_;
};

}  // namespace plumb::check
