#include "base/pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace plumb {
namespace {

TEST(Pool, blocks_of_all_sizes_are_apart_and_aligned) {
  std::vector<std::pair<char*, std::size_t>> blocks;
  for (std::size_t size = 0; size <= kLargestPooled; ++size) {
    auto* block = static_cast<char*>(take_pooled(size));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
    std::memset(block, static_cast<int>(size & 0xff), size);
    blocks.emplace_back(block, size);
  }
  for (const auto& [block, size] : blocks) {
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(static_cast<unsigned char>(block[i]), size & 0xff);
    }
  }
  for (const auto& [block, size] : blocks) EXPECT_TRUE(give_pooled(block));
}

TEST(Pool, what_is_freed_is_taken_next) {
  void* block = take_pooled(100);
  EXPECT_TRUE(give_pooled(block));
  EXPECT_EQ(take_pooled(97), block);
  EXPECT_TRUE(give_pooled(block));
}

TEST(Pool, large_and_foreign_blocks_are_none_of_its) {
  EXPECT_EQ(take_pooled(kLargestPooled + 1), nullptr);
  int local = 0;
  EXPECT_FALSE(give_pooled(&local));
}

TEST(Pool, a_thread_that_ends_hands_over_what_it_freed) {
  constexpr std::size_t kMany = 20000;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < kMany; ++i) blocks.push_back(take_pooled(1040));
  const std::set<void*> all(blocks.begin(), blocks.end());
  EXPECT_EQ(all.size(), kMany);
  std::thread([&] {
    for (void* block : blocks) give_pooled(block);
  }).join();
  std::size_t known = 0;
  for (std::size_t i = 0; i < kMany; ++i) {
    blocks[i] = take_pooled(1040);
    known += all.count(blocks[i]);
  }
  EXPECT_GT(known, kMany - 200);
  for (void* block : blocks) give_pooled(block);
}

TEST(Pool, threads_do_not_get_the_same_blocks) {
  std::vector<std::vector<void*>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 20000; ++i) {
        mine.push_back(take_pooled(static_cast<std::size_t>(i % 700)));
        if (i % 3 == 0 && mine.back()) {
          give_pooled(mine.back());
          mine.pop_back();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<void*> all;
  std::size_t count = 0;
  for (const auto& mine : taken) {
    for (void* block : mine) {
      if (!block) continue;
      all.insert(block);
      ++count;
    }
  }
  EXPECT_EQ(all.size(), count);
  for (void* block : all) give_pooled(block);
}

}  // namespace
}  // namespace plumb
