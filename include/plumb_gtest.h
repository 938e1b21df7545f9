// plumb_gtest.h: fails the GoogleTest test that lost memory.
//
//   int main(int argc, char** argv) {
//     testing::InitGoogleTest(&argc, argv);
//     plumb::fail_leaking_tests();
//     return RUN_ALL_TESTS();
//   }
//
// or, with gtest_main, PLUMB_FAIL_LEAKING_TESTS(); at namespace scope of one file.
// A test that is to lose something says so: PLUMB_EXPECT_LOST(2);
// Without Plumb around it, nothing happens. C++17.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PLUMB_GTEST_H
#define PLUMB_GTEST_H

#include <gtest/gtest.h>

#include "plumb_listener.h"

namespace plumb {

class LeakListener : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { before_test(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    const std::string wrong = after_test();
    if (!wrong.empty()) ADD_FAILURE_AT(test.file(), test.line()) << wrong;
  }
};

// Once; true, so that it can initialise something.
inline bool fail_leaking_tests() {
  testing::UnitTest::GetInstance()->listeners().Append(new LeakListener);
  return true;
}

}  // namespace plumb

#define PLUMB_FAIL_LEAKING_TESTS() \
  [[maybe_unused]] static const bool plumb_listens = plumb::fail_leaking_tests()

#endif  // PLUMB_GTEST_H
