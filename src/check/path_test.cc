// The path of a finding, as a reader follows it.

#include <set>

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

// Which case of a switch it was, and where that is.
TEST(Path, NamesTheCase) {
  const Report report = check_source(R"(
#include <stdlib.h>
int bad(int kind) {
  char *kept = malloc(8);
  if (!kept) return -1;
  switch (kind & 7) {
    case 3:
      free(kept);
      return 0;
    case 5:
      return 1;
    default:
      break;
  }
  free(kept);
  return 2;
}
int worse(int kind) {
  char *kept = malloc(8);
  if (!kept) return -1;
  switch (kind & 7) {
    case 3:
    case 4:
      free(kept);
      return 0;
  }
  return 2;
}
)");
  ASSERT_EQ(report.leaks.size(), 2u);
  std::set<std::string> texts;
  for (const Leak& leak : report.leaks) {
    for (const Step& step : leak.path) texts.insert(step.text);
  }
  EXPECT_EQ(texts.count("`kind & 7` is 5, to line 11"), 1u);
  EXPECT_EQ(texts.count("`kind & 7` is none of the cases"), 1u);
}

}  // namespace
}  // namespace plumb::check
