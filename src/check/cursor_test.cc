// A block that several fields of a structure lead to: a buffer, and where in it reading goes on.
#include "check/source_check.h"

namespace plumb::check {
namespace {

// The callee makes the buffer larger through one field and hands out what another points to.
TEST(Cursor, ABufferThatGrowsIsFreedByOneOfItsNames) {
  expect_by_name(std::string(kHeader) + R"(
struct reader { char *buff, *buff_end, *line_start, *line_end; size_t length; FILE *f; };
static void find_eol(struct reader *lr) {
  while (lr->line_end < lr->buff_end && *lr->line_end != '\n') lr->line_end++;
}
static const char *next_line(struct reader *lr) {
  size_t wanted, got; char *start, *p;
  for (;;) {
    if (lr->line_end < lr->buff_end) {
      *lr->line_end = 0; start = lr->line_start; lr->line_start = ++lr->line_end; find_eol(lr);
      return start;
    }
    if (lr->f == NULL) {
      if (lr->line_start == lr->buff_end) return NULL;
      start = lr->line_start; lr->line_start = lr->buff_end; return start;
    }
    if (lr->line_start > lr->buff) {
      memmove(lr->buff, lr->line_start, lr->buff_end - lr->line_start);
      lr->buff_end -= lr->line_start - lr->buff;
      lr->line_end -= lr->line_start - lr->buff;
      lr->line_start = lr->buff;
    } else {
      lr->length *= 2;
      p = realloc(lr->buff, lr->length + 1);
      if (p == NULL) exit(1);
      lr->buff_end = p + (lr->buff_end - lr->buff);
      lr->line_end = p + (lr->line_end - lr->buff);
      lr->line_start = lr->buff = p;
    }
    wanted = lr->buff + lr->length - lr->buff_end;
    got = fread(lr->buff_end, 1, wanted, lr->f);
    lr->buff_end += got; *lr->buff_end = 0; find_eol(lr);
    if (feof(lr->f)) { fclose(lr->f); lr->f = NULL; }
  }
}
static struct reader *reader_new(const char *name) {
  struct reader *lr = calloc(1, sizeof *lr);
  if (!lr) exit(1);
  lr->f = fopen(name, "r");
  lr->length = 8192;
  lr->line_start = lr->line_end = lr->buff_end = lr->buff = malloc(lr->length + 1);
  return lr;
}
static void reader_free(struct reader *lr) { free(lr->buff); free(lr); }
int lines_ok(const char *name) {
  const char *line; int n = 0;
  struct reader *lr = reader_new(name);
  while ((line = next_line(lr)) != NULL) n++;
  reader_free(lr);
  return n;
}
int lines_bad(const char *name) {
  const char *line; int n = 0;
  struct reader *lr = reader_new(name);
  while ((line = next_line(lr)) != NULL) n++;
  free(lr);
  return n;
}
)");
}

}  // namespace
}  // namespace plumb::check
