// plumb_catch2.h: fails the Catch2 test case that lost memory. Include it in one
// file of the test program instead of Catch2 itself.
//
// A case that is to lose something says so: PLUMB_EXPECT_LOST(2);
// Without Plumb around it, nothing happens. For Catch2 2 and 3; C++17.
//
// The check is made when the outermost section of a run through the case has
// ended: the last moment at which a failure still counts for the case.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PLUMB_CATCH2_H
#define PLUMB_CATCH2_H

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace plumb {
using CatchListener = Catch::EventListenerBase;
}
#else
#include <catch2/catch.hpp>
namespace plumb {
using CatchListener = Catch::TestEventListenerBase;
}
#endif

#include "plumb_listener.h"

namespace plumb {

class LeakListener : public CatchListener {
 public:
  using CatchListener::CatchListener;
  void sectionStarting(Catch::SectionInfo const& info) override {
    CatchListener::sectionStarting(info);
    if (depth_++ == 0) before_test();
  }
  void sectionEnded(Catch::SectionStats const& stats) override {
    CatchListener::sectionEnded(stats);
    if (--depth_ != 0) return;
    const std::string wrong = after_test();
    if (!wrong.empty()) FAIL_CHECK(wrong);
  }

 private:
  int depth_ = 0;
};

}  // namespace plumb

using PlumbLeakListener = plumb::LeakListener;
CATCH_REGISTER_LISTENER(PlumbLeakListener)

#endif  // PLUMB_CATCH2_H
