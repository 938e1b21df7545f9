// A callee that refuses what it is given says so for one of several reasons: it fails where
// one of them holds, and nowhere else.
#include "check/source_check.h"

namespace plumb::check {
namespace {

constexpr const char* kCopies = R"(
static char *copy_part(const char *text, int length) {
  char *out;
  if (text == NULL || length < 0) return NULL;
  out = malloc((size_t)length + 1);
  if (out == NULL) return NULL;
  memcpy(out, text, length);
  out[length] = 0;
  return out;
}
static char *copy(const char *text) {
  const char *end = text;
  if (text == NULL) return NULL;
  while (*end) end++;
  return copy_part(text, end - text);
}
struct document { char *version; int mode; };
static struct document *document_new(const char *version) {
  struct document *out;
  if (version == NULL) version = "1.0";
  out = malloc(sizeof *out);
  if (out == NULL) return NULL;
  memset(out, 0, sizeof *out);
  out->version = copy(version);
  if (out->version == NULL) { free(out); return NULL; }
  return out;
}
static void document_free(struct document *document) {
  free(document->version);
  free(document);
}
)";

TEST(Refusals, ForOneOfSeveralReasons) {
  expect_by_name(std::string(kHeader) + kCopies + R"(
int made_ok(const char *text) {
  char *first = malloc(8);
  if (!first) return -1;
  struct document *document = document_new(text);
  if (!document) return -1;
  document_free(document);
  free(first);
  return 0;
}
int part_ok(const char *text, int n) {
  char *first = malloc(8);
  if (!first) return -1;
  if (text == NULL || n < 0) { free(first); return -1; }
  char *part = copy_part(text, n);
  if (!part) return -1;
  free(part);
  free(first);
  return 0;
}
int part_bad(const char *text, int n) {
  char *first = malloc(8);
  if (!first) return -1;
  if (text == NULL) { free(first); return -1; }
  char *part = copy_part(text, n);
  if (!part) return -1;
  free(part);
  free(first);
  return 0;
}
int copy_bad(const char *text) {
  char *first = malloc(8);
  if (!first) return -1;
  char *part = copy(text);
  if (!part) return -1;
  free(part);
  free(first);
  return 0;
}
)");
}

// What a structure says of itself beforehand rules the refusals out.
TEST(Refusals, ByWhatWasMadeHere) {
  expect_by_name(std::string(kHeader) + R"(
struct buffer { char *data; size_t used, size; int error; int fixed; };
static struct buffer *buffer_new(size_t size) {
  struct buffer *out = malloc(sizeof *out);
  if (!out) return NULL;
  out->used = 0;
  out->error = 0;
  out->fixed = 0;
  out->size = size;
  out->data = malloc(size);
  if (!out->data) { free(out); return NULL; }
  return out;
}
static int buffer_add(struct buffer *buffer, const char *text, int length) {
  if (text == NULL || buffer == NULL || buffer->error) return -1;
  if (buffer->fixed) return -1;
  if (length < -1) return -1;
  if (length == 0) return 0;
  if (length < 0) length = (int)strlen(text);
  if (length == 0) return 0;
  if ((size_t)length > buffer->size - buffer->used) {
    char *more = realloc(buffer->data, buffer->used + length);
    if (!more) return 2;
    buffer->data = more;
    buffer->size = buffer->used + length;
  }
  memcpy(buffer->data + buffer->used, text, length);
  buffer->used += length;
  return 0;
}
static void buffer_free(struct buffer *buffer) { free(buffer->data); free(buffer); }
struct input { struct buffer *buffer; int kind; };
struct input *input_ok(const char *text, int size) {
  struct input *out;
  if (text == NULL || size < 0) return NULL;
  out = calloc(1, sizeof *out);
  if (!out) return NULL;
  out->buffer = buffer_new(64);
  if (!out->buffer) { free(out); return NULL; }
  if (buffer_add(out->buffer, text, size) != 0) { free(out); return NULL; }
  return out;
}
struct input *input_bad(const char *text, int size) {
  struct input *out;
  if (text == NULL) return NULL;
  out = calloc(1, sizeof *out);
  if (!out) return NULL;
  out->buffer = buffer_new(64);
  if (!out->buffer) { free(out); return NULL; }
  if (buffer_add(out->buffer, text, size) != 0) { free(out); return NULL; }
  return out;
}
)");
}

}  // namespace
}  // namespace plumb::check
