// The path of a finding, as a reader follows it.

#include "check/source_check.h"

namespace plumb::check {
namespace {

// Scopes that are left in several ways end in one switch of the compiler's own.
TEST(Path, EachStepHasALine) {
  const Report report = check_source(R"(
#include <stdlib.h>
void fill(char *to, int n);
int look(const char *at);
int bad(int n, int m) {
  char *kept = malloc(8);
  if (!kept) return -1;
  for (int i = 0; i < n; i++) {
    char room[16];
    fill(room, i);
    if (look(room) == m) continue;
    if (look(room) > m) return i;
    fill(room, m);
  }
  free(kept);
  return 0;
}
)");
  ASSERT_EQ(report.leaks.size(), 1u);
  ASSERT_GE(report.leaks[0].path.size(), 3u);
  for (const Step& step : report.leaks[0].path) EXPECT_TRUE(step.location.line) << step.text;
}

}  // namespace
}  // namespace plumb::check
