// The statistics that the sampled engine stands on. The runtime itself has no
// libm and no random library; here it is held to both.
#include "watch/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace plumb::rt {
namespace {

TEST(Sampler, LogarithmAndExponentialAreGood) {
  for (double x = 1e-15; x < 1e6; x *= 1.37) {
    EXPECT_NEAR(natural_log(x), std::log(x), 1e-8 * (1 + std::abs(std::log(x)))) << x;
  }
  for (double x = 0; x < 60; x += 0.173) {
    EXPECT_NEAR(exp_of_minus(x) / std::exp(-x), 1, 1e-8) << x;
  }
  EXPECT_EQ(exp_of_minus(1e9), 0);
}

TEST(Sampler, WeightIsOneOverTheChance) {
  for (const std::uint64_t size : {0UL, 1UL, 64UL, 5000UL, 65536UL, 1UL << 22}) {
    for (const std::uint64_t mean : {1UL << 10, 1UL << 16, 1UL << 30}) {
      const double share = static_cast<double>(size + PLUMB_WATCH_PAD) / static_cast<double>(mean);
      EXPECT_NEAR(sample_weight(size, mean) * -std::expm1(-share), 1, 1e-5) << size << ' ' << mean;
    }
  }
  EXPECT_EQ(sample_weight(1UL << 40, 1 << 16), 1);
}

TEST(Sampler, DistancesAreExponential) {
  Random random;
  random.seed(7);
  constexpr int kDraws = 200'000;
  constexpr double kMean = 65536;
  double sum = 0;
  double squares = 0;
  int above = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto distance = static_cast<double>(draw_distance(random, 1 << 16));
    sum += distance;
    squares += distance * distance;
    if (distance > kMean) ++above;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean / kMean, 1, 0.01);
  EXPECT_NEAR(std::sqrt(squares / kDraws - mean * mean) / kMean, 1, 0.015);
  EXPECT_NEAR(static_cast<double>(above) / kDraws, std::exp(-1.0), 0.005);
}

// Blocks of very different sizes, mixed, with a mean that changes meanwhile:
// the sum of the weights is the number of blocks, for each size by itself.
TEST(Sampler, ScaledCountsAreUnbiasedForEverySize) {
  Random random;
  random.seed(99);
  const std::vector<std::uint64_t> sizes = {0, 24, 400, 9000, 100'000, 2'000'000};
  constexpr int kRounds = 300'000;
  std::vector<double> counted(sizes.size());
  std::vector<double> variance(sizes.size());
  std::uint64_t mean = 1 << 14;
  std::uint64_t drawn_mean = mean;
  std::uint64_t left = draw_distance(random, mean);
  for (int round = 0; round < kRounds; ++round) {
    if (round % 1000 == 0) mean = mean == 1 << 14 ? 1 << 18 : 1 << 14;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::uint64_t bytes = sizes[i] + PLUMB_WATCH_PAD;
      if (bytes < left) {
        left -= bytes;
        continue;
      }
      const double weight = sample_weight(sizes[i], drawn_mean);
      counted[i] += weight;
      variance[i] += weight * (weight - 1);
      drawn_mean = mean;
      left = draw_distance(random, mean);
    }
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_NEAR(counted[i], kRounds, 4 * std::sqrt(variance[i]) + 1) << sizes[i];
  }
}

}  // namespace
}  // namespace plumb::rt
