#include <plumb_gtest.h>

#include <cstdlib>

PLUMB_FAIL_LEAKING_TESTS();

__attribute__((noinline)) static void lose(std::size_t size) {
  char* volatile block = static_cast<char*>(std::malloc(size));
  block[0] = 1;
  block = nullptr;
}

TEST(Leaks, CleanPasses) { std::free(std::malloc(10)); }
TEST(Leaks, LeakingFails) { lose(33); }
TEST(Leaks, ExpectedPasses) {
  PLUMB_EXPECT_LOST(1);
  lose(44);
}
TEST(Leaks, NextPasses) { EXPECT_EQ(plumb_lost_blocks(), 0u); }
