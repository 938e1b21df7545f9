#include "watch/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace plumb {
namespace {

// A run of 100 seconds with epochs of 0.1 s, and a site to fill.
struct Scene {
  WatchSnapshot snapshot;
  WatchSite site;
  StalePolicy policy;

  Scene() {
    snapshot.now = 100;
    snapshot.epoch = 0.1;
    snapshot.epochs = 1000;
    for (int i = 1; i <= 10; ++i) {
      PlumbWatchPoint point{};
      point.time = static_cast<std::uint64_t>(i) * 10'000'000'000;
      snapshot.history.push_back(point);
      site.curve.push_back(0);
    }
  }
  void block(double birth, double last) {
    site.blocks.push_back({1000, 50, birth, last, true, 1});
    site.sums.allocated_bytes += 50'000;
    site.sums.allocated_blocks += 50;
    for (std::size_t i = 0; i < snapshot.history.size(); ++i) {
      if (static_cast<double>(snapshot.history[i].time) / 1e9 >= birth) site.curve[i] += 50'000;
    }
  }
  SiteJudgement judged() const { return judge_site(site, snapshot, policy); }
};

TEST(Verdict, ASiteThatGrowsAndRestsIsALeak) {
  Scene scene;
  for (int i = 0; i < 20; ++i) scene.block(i * 5, i * 5 + 0.2);
  const SiteJudgement judged = scene.judged();
  EXPECT_EQ(judged.verdict, SiteVerdict::leak);
  EXPECT_GT(judged.confidence, 0.9);
  EXPECT_LT(judged.misled_chance, 1e-4);
  EXPECT_NEAR(judged.growth, 2, 0.3);
  EXPECT_EQ(judged.stale_samples, 20U);
  EXPECT_NEAR(judged.stale_bytes, 20 * 50'000, 1);
  EXPECT_LT(judged.bytes_low, judged.stale_bytes);
  EXPECT_GT(judged.bytes_high, judged.stale_bytes);
  EXPECT_GT(judged.drag, 0);
}

TEST(Verdict, WhatWasFilledAtTheStartIsStartUpData) {
  Scene scene;
  for (int i = 0; i < 20; ++i) scene.block(0.1 * i, 0.1 * i + 0.2);
  EXPECT_EQ(scene.judged().verdict, SiteVerdict::start_up);
  scene.policy.must_grow = false;
  EXPECT_EQ(scene.judged().verdict, SiteVerdict::leak);
}

TEST(Verdict, WhatIsUsedAgainIsACache) {
  Scene scene;
  for (int i = 0; i < 20; ++i) scene.block(i * 5, i * 5 + 0.2);
  scene.site.sums.revived = 12;
  scene.site.sums.longest_rest = 60'000'000'000;
  EXPECT_EQ(scene.judged().verdict, SiteVerdict::cache);
}

// The same site has entries that come back after 15 s and blocks that nobody has.
TEST(Verdict, ALeakBesideACacheIsFound) {
  Scene scene;
  for (int i = 0; i < 20; ++i) scene.block(i * 5, i * 5 + 0.2);
  for (int i = 0; i < 8; ++i) scene.block(i * 5, 90 + i);
  scene.site.sums.revived = 12;
  scene.site.sums.longest_rest = 15'000'000'000;
  EXPECT_EQ(scene.judged().verdict, SiteVerdict::leak);
}

TEST(Verdict, MostMustBeStale) {
  Scene scene;
  for (int i = 0; i < 8; ++i) scene.block(i * 10, i * 10 + 0.2);
  for (int i = 0; i < 12; ++i) scene.block(i * 5, 99.9);
  EXPECT_EQ(scene.judged().verdict, SiteVerdict::cache);
  scene.policy.share = 0.3;
  EXPECT_EQ(scene.judged().verdict, SiteVerdict::leak);
}

TEST(Verdict, AFewSamplesAreNoEvidence) {
  Scene scene;
  scene.block(10, 10.2);
  scene.block(80, 80.2);
  EXPECT_EQ(scene.judged().verdict, SiteVerdict::few);
}

// In use for long, idle for longer than a third of the run.
TEST(Verdict, LongUseDoesNotExcuseForEver) {
  Scene scene;
  for (int i = 0; i < 20; ++i) scene.block(i * 4, std::min(i * 4 + 12.0, 99.9));
  EXPECT_EQ(scene.judged().verdict, SiteVerdict::leak);
  scene.policy.share_of_run = 1;
  EXPECT_NE(scene.judged().verdict, SiteVerdict::leak);
}

// The program freed all that it still knew before it ended.
TEST(Verdict, AShrinkingHeapMayHaveALeak) {
  Scene scene;
  for (int i = 0; i < 20; ++i) scene.block(i * 5, i * 5 + 0.2);
  for (double& bytes : scene.site.curve) bytes *= 10;
  EXPECT_EQ(scene.judged().verdict, SiteVerdict::leak);
}

// A queue: blocks rest for long, and then they are freed.
TEST(Verdict, WhatIsFreedInTheEndDoesNotGrow) {
  Scene scene;
  for (int i = 0; i < 20; ++i) scene.block(70 + i, 70 + i + 0.2);
  EXPECT_NE(scene.judged().verdict, SiteVerdict::leak);
}

TEST(Verdict, ShortRestsAreNotStale) {
  Scene scene;
  for (int i = 0; i < 20; ++i) scene.block(i * 4, i * 4 + 75 > 99.5 ? 99.5 : i * 4 + 75);
  EXPECT_NE(scene.judged().verdict, SiteVerdict::leak);
  Scene other;
  for (int i = 0; i < 20; ++i) other.block(i * 4.5, i * 4.5 + 0.2);
  other.policy.least_idle = 200;
  EXPECT_EQ(other.judged().verdict, SiteVerdict::few);
}

TEST(Verdict, WithoutTouchesGrowthIsAllThereIs) {
  Scene scene;
  scene.snapshot.limits = PLUMB_WATCH_NO_TOUCHES;
  for (int i = 0; i < 20; ++i) scene.block(i * 5, i * 5);
  const SiteJudgement judged = scene.judged();
  EXPECT_TRUE(judged.by_growth_only);
  EXPECT_EQ(judged.verdict, SiteVerdict::leak);
  EXPECT_LE(judged.confidence, 0.5);
  Scene still;
  still.snapshot.limits = PLUMB_WATCH_NO_TOUCHES;
  for (int i = 0; i < 20; ++i) still.block(i * 0.1, i * 0.1);
  EXPECT_EQ(still.judged().verdict, SiteVerdict::start_up);
}

// The predicates one by one: blocks that were used for 4 s and rest since, at most 95 s.
TEST(Verdict, PredicatesCanBeChosen) {
  Scene scene;
  for (int i = 0; i < 20; ++i) scene.block(i * 5, std::min(i * 5 + 4.0, 100.0));
  EXPECT_EQ(scene.judged().verdict, SiteVerdict::leak);
  scene.policy.times_active = 0;
  scene.policy.least_idle = 60;  // eight of them rest longer
  EXPECT_EQ(scene.judged().stale_samples, 8U);
  scene.policy.least_idle = 96;
  EXPECT_EQ(scene.judged().stale_samples, 0U);
  scene.policy.least_idle = 0;
  scene.policy.never_used = true;  // seen in the epoch of their birth only
  EXPECT_EQ(scene.judged().stale_samples, 20U);
  for (WatchBlock& block : scene.site.blocks) block.touches = 2;
  EXPECT_EQ(scene.judged().stale_samples, 0U);
}

}  // namespace
}  // namespace plumb
