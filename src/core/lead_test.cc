#include "core/lead.h"

#include <gtest/gtest.h>

#include "core/test_leaks.h"

namespace plumb {
namespace {

using test::frame;
using test::stack;

TEST(PrimaryFrame, IsTheLossThenThePathThenTheAllocation) {
  const Report report;
  Leak leak = test::lost_at(stack({"malloc", "make"}), stack({"free", "drop", "main"}));
  leak.path.resize(2);
  leak.path[1].location = frame("end_of_path");
  EXPECT_EQ(primary_frame(leak, report)->function, "drop");
  leak.loss->stack.clear();
  EXPECT_EQ(primary_frame(leak, report)->function, "end_of_path");
  leak.path.clear();
  EXPECT_EQ(primary_frame(leak, report)->function, "make");
  leak.allocation.stack.clear();
  EXPECT_EQ(primary_frame(leak, report), nullptr);
}

TEST(PrimaryFrame, IsTheCallerOfALibrary) {
  const Report report;
  Leak leak = test::lost_at(stack({"malloc", "make"}), stack({"_M_erase", "drop", "main"}));
  leak.loss->stack[0].file = "/usr/include/c++/12/bits/stl_vector.h";
  EXPECT_EQ(primary_frame(leak, report)->function, "drop");
}

}  // namespace
}  // namespace plumb
