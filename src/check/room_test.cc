// Functions that are too large for all their callees to be put in their place: those that
// decide are the ones that the block goes through.
#include <string>

#include "check/source_check.h"

namespace plumb::check {
namespace {

// Each call of `note` has some room, and there are more of them than fit.
std::string large_function(const std::string& rest) {
  std::string text = R"(
#include <stdlib.h>
#include <string.h>
struct log { int size; int level; char *last; };
void note(struct log *log, int n) {
  if (log->level > n) log->size += n;
  if (log->size > 1000) log->size = log->size / 2 + log->level;
  if (n & 1) log->level += log->size & 7;
  else log->level -= log->size & 3;
  log->last = 0;
}
static int length(const char *text) {
  int n = 0;
  while (text[n]) n++;
  return n;
}
static char *append(char *text, const char *add, int n) {
  if (n == 0) return text;
  if (n < 0) return NULL;
  char *longer = realloc(text, length(text) + n + 1);
  if (!longer) { free(text); return NULL; }
  memcpy(longer + length(text), add, n);
  return longer;
}
static char *append_text(char *text, const char *add) {
  const char *p = add;
  while (*p) p++;
  return append(text, add, p - add);
}
)";
  text += "void large_" + rest.substr(0, rest.find(' ')) +
          "(struct log *log, const char *a, int n) {\n";
  for (int i = 0; i < 200; ++i) text += "  note(log, " + std::to_string(i) + ");\n";
  return text + rest.substr(rest.find(' ')) + "}\n";
}

TEST(Room, IsForTheCallsThatTheBlockGoesThrough) {
  expect_by_name(large_function(R"(ok
  char *text = strdup(a);
  if (!text) return;
  text = append_text(text, "more");
  free(text);
)"));
  expect_by_name(large_function(R"(bad
  char *text = strdup(a);
  if (!text) return;
  text = append(text, "more", n);
  free(text);
)"));
}

// What decides that the block comes with an error is merged away in the maker's summary.
std::string large_maker(const std::string& rest) {
  std::string text = R"(
#include <stdlib.h>
#include <string.h>
struct url { char *part[120]; };
static char *decoded(const char *text) {
  char *out = malloc(strlen(text) + 1);
  if (!out) abort();
  return strcpy(out, text);
}
static int is_odd(const char *text) { return text[0] == '%'; }
int part_of(const struct url *url, int which, char **part, unsigned flags) {
  const char *text = NULL;
  _Bool decode = (flags & 64) ? 1 : 0;
  int status = 1;
  switch (which) {
)";
  for (int i = 0; i < 120; ++i) {
    const std::string n = std::to_string(i);
    text += "  case " + n + ": text = url->part[" + n + "];";
    text += i % 8 == 3 ? " decode = 0; status = 2; break;\n" : " break;\n";
  }
  return text + R"(
  default: break;
  }
  *part = NULL;
  if (!text) return status;
  *part = decoded(text);
  if (decode && is_odd(*part)) return 3;
  return 0;
}
)" + rest;
}

TEST(Room, IsForALargeMakerAlone) {
  expect_by_name(large_maker(R"(
int plain_ok(const struct url *url) {
  char *part;
  int status = part_of(url, 2, &part, 0);
  if (status) return status;
  free(part);
  return 0;
}
int decoded_bad(const struct url *url) {
  char *part;
  int status = part_of(url, 2, &part, 64);
  if (status) return status;
  free(part);
  return 0;
}
)"));
}

}  // namespace
}  // namespace plumb::check
