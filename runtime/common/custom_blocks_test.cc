#include "common/custom_blocks.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace plumb::rt {

// The guard's other half belongs to the runtimes.
thread_local constinit ThreadState thread_state{};
void deliver_postponed(ThreadState&) {}

namespace {

CustomBlock block_at(uintptr_t address, uint64_t size, uintptr_t pool = 0) {
  CustomBlock block{};
  block.address = address;
  block.size = size;
  block.pool = pool;
  return block;
}

TEST(CustomBlocks, AreFoundUntilTheyAreTaken) {
  Inside in;
  const size_t before = custom_count();
  ASSERT_TRUE(add_custom(in, block_at(0x1000, 8)));
  ASSERT_TRUE(add_custom(in, block_at(0x1008, 8)));
  ASSERT_NE(find_custom(0x1008), nullptr);
  EXPECT_EQ(find_custom(0x1004), nullptr);
  CustomBlock taken{};
  EXPECT_TRUE(take_custom(in, 0x1000, taken));
  EXPECT_EQ(taken.size, 8u);
  EXPECT_FALSE(take_custom(in, 0x1000, taken));
  EXPECT_TRUE(take_custom(in, 0x1008, taken));
  EXPECT_EQ(custom_count(), before);
}

TEST(CustomBlocks, APoolGoesAsAWhole) {
  Inside in;
  for (uintptr_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(add_custom(in, block_at(0x20000 + 16 * i, 16, i % 2 == 0 ? 0x77 : 0x78)));
  }
  CustomBlock taken{};
  EXPECT_TRUE(take_custom(in, 0x20000 + 16 * 50, taken));
  unsigned count = 0;
  while (take_custom_of(in, 0x77, taken)) {
    EXPECT_EQ(taken.pool, 0x77u);
    ++count;
  }
  EXPECT_EQ(count, 49u);
  while (take_custom_of(in, 0x78, taken)) ++count;
  EXPECT_EQ(count, 99u);
}

TEST(CustomBlocks, ThreadsShareTheTable) {
  const size_t before = custom_count();
  std::vector<std::thread> threads;
  for (uintptr_t t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      Inside in;
      for (unsigned round = 0; round < 200; ++round) {
        for (uintptr_t i = 0; i < 32; ++i) {
          ASSERT_TRUE(add_custom(in, block_at(0x1000000 * (t + 1) + 64 * i, 64, t % 3 + 1)));
        }
        CustomBlock taken{};
        for (uintptr_t i = 0; i < 32; ++i) {
          ASSERT_TRUE(take_custom(in, 0x1000000 * (t + 1) + 64 * i, taken));
          ASSERT_EQ(taken.pool, t % 3 + 1);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(custom_count(), before);
}

}  // namespace

}  // namespace plumb::rt
