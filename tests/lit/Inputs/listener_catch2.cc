#define CATCH_CONFIG_MAIN
#include <plumb_catch2.h>

#include <cstdlib>

__attribute__((noinline)) static void lose(std::size_t size) {
  char* volatile block = static_cast<char*>(std::malloc(size));
  block[0] = 1;
  block = nullptr;
}

TEST_CASE("clean passes") { std::free(std::malloc(10)); }
TEST_CASE("leaking fails") {
  SECTION("one") { lose(33); }
  SECTION("other") { std::free(std::malloc(10)); }
}
TEST_CASE("expected passes") {
  PLUMB_EXPECT_LOST(1);
  lose(44);
}
TEST_CASE("next passes") { CHECK(plumb_lost_blocks() == 0u); }
