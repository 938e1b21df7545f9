// No object is as large as the numbers that count its bytes: what a text's length or the
// distance of two addresses would have to be for an overflow is not taken to happen.
#include "check/source_check.h"

namespace plumb::check {
namespace {

TEST(Lengths, OfATextFitInAnInt) {
  expect_by_name(R"(
#include <limits.h>
#include <stdlib.h>
#include <string.h>
static int length(const char *text) {
  size_t n = text ? strlen(text) : 0;
  return n > INT_MAX ? 0 : (int)n;
}
static char *append(char *text, const char *add, int n) {
  if (!add || n == 0) return text;
  if (n < 0) return NULL;
  if (!text) return strndup(add, n);
  int size = length(text);
  if (size < 0 || size > INT_MAX - n) return NULL;
  char *longer = realloc(text, (size_t)size + n + 1);
  if (!longer) { free(text); return NULL; }
  memcpy(longer + size, add, n);
  longer[size + n] = 0;
  return longer;
}
static char *append_text(char *text, const char *add) {
  const char *p = add;
  if (!add) return text;
  if (!text) return strdup(add);
  while (*p) p++;
  return append(text, add, p - add);
}
void by_length_ok(const char *a, const char *b) {
  char *text = strdup(a);
  if (!text) return;
  text = append(text, b, strlen(b));
  free(text);
}
void by_distance_ok(const char *a, const char *b) {
  char *text = strdup(a);
  if (!text) return;
  text = append_text(text, b);
  free(text);
}
void by_number_bad(const char *a, const char *b, int n) {
  char *text = strdup(a);
  if (!text) return;
  text = append(text, b, n);
  free(text);
}
void long_text_bad(const char *a, const char *b) {
  char *text = strdup(a);
  if (!text) return;
  if (strlen(b) > 4096) return;
  free(text);
}
)");
}

// The distance may be negative: which of the two is first is not known.
TEST(Lengths, DistancesHaveASign) {
  expect_by_name(R"(
#include <stdlib.h>
void behind_bad(const char *from, const char *to) {
  char *text = malloc(8);
  if (!text) return;
  if (to - from < 0) return;
  free(text);
}
void too_far_ok(const char *from, const char *to) {
  char *text = malloc(8);
  if (!text) return;
  if (to - from > 0x7fffffffL) return;
  free(text);
}
)");
}

}  // namespace
}  // namespace plumb::check
