// Arguments without a name: what a function does with its list of them, and what a format
// says of functions that are only declared.
#include "check/source_check.h"

namespace plumb::check {
namespace {

std::string with_header(const std::string& source) {
  return std::string(kHeader) + "#include <stdarg.h>\n" + source;
}

// A list that goes to `vasprintf` and its like, also by way of another function, is read.
TEST(Variadic, ListThatIsFormatted) {
  expect_by_name(with_header(R"(
static void vsay(const char *fmt, va_list list) {
  char text[100];
  vsnprintf(text, sizeof text, fmt, list);
  puts(text);
}
void say(const char *fmt, ...) {
  va_list list, again;
  va_start(list, fmt);
  va_copy(again, list);
  vsay(fmt, again);
  va_end(again);
  va_end(list);
}
void join(char **out, const char *fmt, ...) {
  va_list list;
  va_start(list, fmt);
  if (vasprintf(out, fmt, list) < 0) abort();
  va_end(list);
}
int refuse_bad(const char *fmt, const char *name) {
  char *copy = strdup(name);
  if (copy[0] == '-') { say(fmt, copy); return -1; }
  free(copy);
  return 0;
}
int refuse_ok(const char *fmt, const char *name) {
  char *copy = strdup(name);
  if (copy[0] == '-') { say(fmt, copy); free(copy); return -1; }
  free(copy);
  return 0;
}
char *path_bad(const char *fmt, const char *folder) {
  char *copy = strdup(folder), *path;
  join(&path, fmt, copy);
  return path;
}
char *path_ok(const char *fmt, const char *folder) {
  char *copy = strdup(folder), *path;
  join(&path, fmt, copy);
  free(copy);
  return path;
}
)"));
}

// One from which arguments are taken may keep or free them.
TEST(Variadic, ListThatIsTakenApart) {
  expect_by_name(with_header(R"(
struct bag { void *at[8]; int count; };
void put_all(struct bag *bag, ...) {
  va_list list;
  void *each;
  va_start(list, bag);
  while ((each = va_arg(list, void *))) bag->at[bag->count++] = each;
  va_end(list);
}
static void vput(struct bag *bag, va_list list) { bag->at[0] = va_arg(list, void *); }
void put(struct bag *bag, ...) {
  va_list list;
  va_start(list, bag);
  vput(bag, list);
  va_end(list);
}
void drop_all(int count, ...) {
  va_list list;
  va_start(list, count);
  while (count-- > 0) free(va_arg(list, void *));
  va_end(list);
}
void unknown_v(struct bag *bag, va_list list);
void hand_on(struct bag *bag, ...) {
  va_list list;
  va_start(list, bag);
  unknown_v(bag, list);
  va_end(list);
}
void put_all_ok(struct bag *bag) { put_all(bag, malloc(4), malloc(4), (void *)0); }
void put_ok(struct bag *bag) { put(bag, malloc(4)); }
void drop_ok(void) { drop_all(2, malloc(4), malloc(4)); }
void hand_on_ok(struct bag *bag) { hand_on(bag, malloc(4)); }
)"));
}

// Of a function that is only declared nothing is known but what its format says.
TEST(Variadic, FormatInTheCall) {
  expect_by_name(with_header(R"(
void notice(int level, const char *fmt, ...);
void pack(const char *fmt, ...);
char *gettext(const char *text);
int named_bad(const char *name) {
  char *copy = strdup(name);
  if (copy[0] == '-') { notice(1, "%s: bad name, %-*d", copy, 4, 5); return -1; }
  free(copy);
  return 0;
}
int translated_bad(const char *name) {
  char *copy = strdup(name);
  if (copy[0] == '-') { notice(1, gettext("%s: bad name"), copy); return -1; }
  free(copy);
  return 0;
}
int named_ok(const char *name) {
  char *copy = strdup(name);
  if (copy[0] == '-') { notice(1, "%s: bad name", copy); free(copy); return -1; }
  free(copy);
  return 0;
}
void other_language_ok(const char *name) { pack("{s:o}", "name", strdup(name)); }
void other_letter_ok(const char *name) { pack("%z", strdup(name)); }
void more_than_named_ok(const char *name) { pack("%s", name, strdup(name)); }
void not_known_ok(const char *fmt, const char *name) { pack(fmt, strdup(name)); }
)"));
}

}  // namespace
}  // namespace plumb::check
