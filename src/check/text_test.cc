// Whether a text is empty, after something was written into it at a place that is not known.
#include "check/source_check.h"

namespace plumb::check {
namespace {

TEST(Text, WrittenSomewhereMayBeEmptyOrNot) {
  expect_by_name(std::string(kHeader) + R"(
static void append(char *text, const char *more, int most) {
  int length = strlen(text);
  if (length + (int)strlen(more) < most) strcpy(text + length, more);
}
static char *appended(const char *more) {
  char text[100];
  *text = 0;
  append(text, more, 100);
  return *text ? strdup(text) : NULL;
}
static char *printed(const char *more) {
  char text[100] = "";
  sprintf(text + strlen(text), "%s", more);
  return *text ? strdup(text) : NULL;
}
static char *set(const char *more, int at) {
  char text[100];
  text[0] = 0;
  text[at] = *more;
  return *text ? strdup(text) : NULL;
}
void appended_bad(const char *more) { appended(more); }
void appended_ok(const char *more) { free(appended(more)); }
void printed_bad(const char *more) { printed(more); }
void printed_ok(const char *more) { free(printed(more)); }
void set_bad(const char *more) { set(more, *more); }
void set_behind_ok(const char *more) {
  char text[100];
  unsigned at = 1 + (unsigned char)more[1];
  char *copy = strdup(more);
  text[0] = 0;
  text[at] = *more;
  if (!*text) free(copy);
}
)");
}

}  // namespace
}  // namespace plumb::check
