#include "core/leak.h"

namespace plumb {

Count& Count::operator+=(const Count& other) {
  blocks += other.blocks;
  bytes += other.bytes;
  return *this;
}

Count Leak::total() const {
  Count sum = direct;
  sum += indirect;
  return sum;
}

}  // namespace plumb
