// Which blocks are sampled: Poisson by bytes.
//
// Events are strewn over the bytes that a thread allocates, `mean` apart on the
// average; a block is sampled when an event falls into it, whatever its size.
// The distance to the next event is exponential, hence memoryless: a thread
// counts down one number, and nothing carries over from block to block. A
// sample stands for 1 / (chance that it was drawn) blocks; sums of these
// weights are unbiased, also when the mean changes between samples, since each
// keeps the mean that it was drawn with.
//
// No libm here: the two functions below are good to 1e-8, far below the
// sampling error.
#pragma once

#include <stdint.h>

#include "trace/watch_record.h"

namespace plumb::rt {

// xorshift64*: one word of state.
class Random {
 public:
  void seed(uint64_t value) { state_ = value * 0x9e3779b97f4a7c15u | 1; }
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }

 private:
  uint64_t state_ = 1;
};

inline double natural_log(double value) {  // of a positive, normal number
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  bits = (bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1023} << 52);
  double fraction;
  __builtin_memcpy(&fraction, &bits, sizeof fraction);
  if (fraction > 1.4142135623730951) {
    fraction /= 2;
    ++exponent;
  }
  // ln f = 2 artanh((f - 1) / (f + 1)), |argument| < 0.172.
  const double t = (fraction - 1) / (fraction + 1);
  const double s = t * t;
  const double series =
      1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9 + s * (1.0 / 11)))));
  return static_cast<double>(exponent) * 0.6931471805599453 + 2 * t * series;
}

inline double exp_of_minus(double value) {  // exp(-value), value >= 0
  if (value > 700) return 0;
  const double halves = value / 0.6931471805599453;
  const int64_t whole = static_cast<int64_t>(halves);
  const double x = (halves - static_cast<double>(whole)) * 0.6931471805599453;  // below ln 2
  double sum = 1;
  for (int n = 12; n > 0; --n) sum = 1 - x / n * sum;
  const uint64_t bits = static_cast<uint64_t>(1023 - whole) << 52;
  double scale;
  __builtin_memcpy(&scale, &bits, sizeof scale);
  return sum * scale;
}

// Bytes until the next event; at least 1.
inline uint64_t draw_distance(Random& random, uint64_t mean) {
  // In (0, 1]: the logarithm of 0 is never asked for.
  const double unit = static_cast<double>((random.next() >> 11) + 1) * 0x1p-53;
  return 1 + static_cast<uint64_t>(-natural_log(unit) * static_cast<double>(mean));
}

// How many blocks of this size a sample stands for.
inline double sample_weight(uint64_t size, uint64_t mean) {
  const double share = (static_cast<double>(size) + PLUMB_WATCH_PAD) / static_cast<double>(mean);
  if (share < 1e-5) return 1 / share + 0.5;  // where 1 - exp(-x) loses digits
  return 1 / (1 - exp_of_minus(share));
}

}  // namespace plumb::rt
