// Exceptions that nearly any function can throw.
#include "check/source_check.h"

namespace plumb::check {
namespace {

// So many functions that lead to one that throws.
std::string with_callers(int count) {
  std::string out = R"(
struct Failed {};
struct Refused {};
void must(bool truth) { if (!truth) throw Failed(); }
static void wanted(int n) { if (n > 7) throw Refused(); }
)";
  for (int i = 0; i < count; ++i) {
    out += fmt::format("int caller_{}(int n) {{ must(n > {}); return n; }}\n", i, i);
  }
  return out + R"(
void far(int n) { int* p = new int(n); must(n > 3); delete p; }
void near(int n) { int* p = new int(n); wanted(n); delete p; }
)";
}

TEST(FarThrows, AreLikeMemoryThatRunsOut) {
  EXPECT_EQ(finders(check_source(with_callers(20), "cc")), (Names{"far", "near"}));
  EXPECT_EQ(finders(check_source(with_callers(200), "cc")), (Names{"near"}));
}

}  // namespace
}  // namespace plumb::check
