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

// What a loop counts or walks along begins where it began, and goes up.
TEST(Lengths, OfAWalkAreNotNegative) {
  expect_by_name(R"(
#include <limits.h>
#include <stdlib.h>
static int length(const char *text) {
  size_t n = 0;
  if (text == NULL) return 0;
  while (*text != 0) { text++; n++; }
  return n > INT_MAX ? 0 : n;
}
static char *make(const char *text, int n) {
  if (n < 0) return NULL;
  char *out = malloc((size_t)n + 1);
  if (!out) abort();
  for (int i = 0; i < n; i++) out[i] = text[i];
  out[n] = 0;
  return out;
}
static char *copy_counted(const char *text) { return make(text, length(text)); }
static char *copy_walked(const char *text) {
  const char *end = text;
  while (*end) end++;
  return make(text, end - text);
}
static char *copy_back(const char *text, const char *end) {
  while (*end == ' ') end--;
  return make(text, end - text);
}
int counted_ok(const char *a, const char *b) {
  char *first = malloc(8);
  if (!first) return 0;
  char *text = copy_counted(b);
  if (!text) return 0;
  int out = text[0] + a[0];
  free(text);
  free(first);
  return out;
}
int walked_ok(const char *a, const char *b) {
  char *first = malloc(8);
  if (!first) return 0;
  char *text = copy_walked(b);
  if (!text) return 0;
  int out = text[0] + a[0];
  free(text);
  free(first);
  return out;
}
int back_bad(const char *a, const char *b) {
  char *first = malloc(8);
  if (!first) return 0;
  char *text = copy_back(a, b);
  if (!text) return 0;
  int out = text[0] + a[0];
  free(text);
  free(first);
  return out;
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

// What walks forward from a place is not before it, and a loop that runs at least once has
// gone some way.
TEST(Lengths, OfAWalkForward) {
  expect_by_name(R"(
#include <stdlib.h>
static size_t encoded(const char *in, size_t n, char **out) {
  char *data, *to;
  *out = NULL;
  if (n == 0) return 0;
  data = to = malloc(2 * n + 1);
  if (!data) return 0;
  while (n > 0) {
    to[0] = *in++;
    to[1] = '=';
    to += 2;
    n--;
  }
  *to = 0;
  *out = data;
  return to - data;
}
int encode_ok(const char *in, size_t n) {
  char *text;
  size_t length = encoded(in, n, &text);
  if (!length) return -1;
  free(text);
  return 0;
}
int encode_bad(const char *in, size_t n) {
  char *text;
  size_t length = encoded(in, n, &text);
  if (length < 5) return -1;
  free(text);
  return 0;
}
static long span(const char *text) {
  const char *p = text;
  while (*p && *p != ' ') p++;
  return p - text;
}
void span_ok(const char *text) {
  char *copy = malloc(8);
  if (!copy) return;
  if (span(text) < 0) return;
  free(copy);
}
void span_bad(const char *text) {
  char *copy = malloc(8);
  if (!copy) return;
  if (span(text) < 1) return;
  free(copy);
}
)");
}

// Two lengths that do not fit in an int together: by a number that anybody may give the text
// is lost, by the length of a text it is not.
TEST(Lengths, OfTwoTextsFitInAnInt) {
  expect_by_name(R"(
#include <limits.h>
#include <stdlib.h>
#include <string.h>
static int length(const char *t) { int n = 0; while (*t) { t++; n++; } return n; }
static char *append(char *text, const char *more, int n) {
  if (more == NULL || n == 0) return text;
  if (n < 0) return NULL;
  int size = length(text);
  if (size > INT_MAX - n) return NULL;
  char *out = realloc(text, (size_t)size + n + 1);
  if (out == NULL) return text;
  memcpy(out + size, more, n);
  return out;
}
static char *append_all(char *text, const char *more) {
  const char *end = more;
  while (*end) ++end;
  return append(text, more, end - more);
}
int joined_ok(const char *a, const char *b) {
  char *text = strdup(a);
  text = append_all(text, b);
  if (text == NULL) return -1;
  free(text);
  return 0;
}
int joined_bad(const char *a, const char *b, int n) {
  char *text = strdup(a);
  text = append(text, b, n);
  if (text == NULL) return -1;
  free(text);
  return 0;
}
)");
}

}  // namespace
}  // namespace plumb::check
