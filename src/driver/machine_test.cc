#include "driver/machine.h"

#include <gtest/gtest.h>

namespace plumb {
namespace {

TEST(Machine, FindsVersionsInText) {
  EXPECT_EQ(version_in("Z3 version 4.8.12 - 64 bit"), "4.8.12");
  EXPECT_EQ(version_in("valgrind-3.19.0\n"), "3.19.0");
  EXPECT_EQ(version_in("19.1.7"), "19.1.7");
  EXPECT_EQ(version_in("no 7 here."), "");
  EXPECT_EQ(version_of_program({"no-such-program-at-all"}), "");
  EXPECT_NE(libc_build_id(), "");
}

}  // namespace
}  // namespace plumb
