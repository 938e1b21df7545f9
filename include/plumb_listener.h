// plumb_listener.h: what the listeners for test frameworks share.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PLUMB_LISTENER_H
#define PLUMB_LISTENER_H

#include <cstddef>
#include <string>

#include "plumb.h"

namespace plumb {

// Blocks that the running test is to lose.
inline std::size_t expected_lost = 0;

// What was lost before is not this test's.
inline void before_test() {
  (void)plumb_count_lost(PLUMB_LOST_TOLD | PLUMB_LOST_BEFORE_TEST);
  expected_lost = 0;
}

// What is wrong with the test; empty when nothing is.
inline std::string after_test() {
  if (plumb_runtime() == nullptr) return {};
  const plumb_lost lost = plumb_count_lost(PLUMB_LOST_KEEP | PLUMB_LOST_AFTER_TEST);
  if (lost.blocks == expected_lost) {
    if (lost.blocks != 0) (void)plumb_count_lost(PLUMB_LOST_IGNORE | PLUMB_LOST_AFTER_TEST);
    return {};
  }
  (void)plumb_count_lost(PLUMB_LOST_TOLD | PLUMB_LOST_AFTER_TEST);
  std::string text =
      "lost " + std::to_string(lost.blocks) + " blocks, " + std::to_string(lost.bytes) + " bytes";
  if (expected_lost != 0) text += "; expected " + std::to_string(expected_lost) + " blocks";
  return text;
}

}  // namespace plumb

#define PLUMB_EXPECT_LOST(count) (plumb::expected_lost = (count))

#endif  // PLUMB_LISTENER_H
