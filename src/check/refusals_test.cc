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
  if (text == NULL) puts("none");
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

// A function that fails when one that it calls fails has the reasons of that one, however deep
// that is; what decided nothing on the way is none.
TEST(Refusals, ReasonsArePassedOn) {
  expect_by_name(std::string(kHeader) + R"(
struct buffer { char *data; size_t used, size; int error, kind, synced, limit; };
static int room(struct buffer *buffer, size_t more) {
  char *data;
  if (buffer->error || buffer->kind == 2) return -1;
  if (buffer->used + more < buffer->size) return 0;
  data = realloc(buffer->data, buffer->used + more);
  if (data == NULL) return -1;
  buffer->data = data;
  return 0;
}
static int add(struct buffer *buffer, const char *text, int length) {
  if (length < -1) return -1;
  if (buffer->size != (size_t)buffer->synced && buffer->synced < 1000) buffer->size = buffer->synced;
  if (length == 0) return 0;
  if (length < 0) length = (int)strlen(text);
  if (room(buffer, length + 1)) return -1;
  memcpy(buffer->data + buffer->used, text, length);
  buffer->used += length;
  return 0;
}
static int add_word(struct buffer *buffer, const char *word) {
  if (add(buffer, " ", 1)) return -1;
  return add(buffer, word, -1);
}
static int add_pair(struct buffer *buffer, const char *name, const char *value) {
  if (add_word(buffer, name)) return -1;
  return add_word(buffer, value);
}
static int add_entry(struct buffer *buffer, const char *name, const char *value) {
  if (add_pair(buffer, name, value)) return -1;
  return 0;
}
int entry_ok(struct buffer *buffer, const char *name) {
  char *value;
  if (buffer->error || buffer->kind == 2) return -1;
  value = strdup(name);
  if (!value) return -1;
  if (add_entry(buffer, name, value)) return -1;
  free(value);
  return 0;
}
int entry_bad(struct buffer *buffer, const char *name) {
  char *value;
  if (buffer->kind == 2) return -1;
  value = strdup(name);
  if (!value) return -1;
  if (add_entry(buffer, name, value)) return -1;
  free(value);
  return 0;
}
)");
}

// A callee that refuses null: that it is given it, of which the caller says nothing, would
// be a guess. Not when the caller has looked, or sets it itself.
TEST(Refusals, NullThatNothingSaysIsPassed) {
  expect_by_name(std::string(kHeader) + R"(
struct text { char *data; int used, size; };
struct node { struct text *text; char *name; struct node *next; };
static int text_add(struct text *text, const char *more) {
  if (text == NULL || more == NULL) return -1;
  if (text->used + (int)strlen(more) >= text->size) {
    char *data = realloc(text->data, text->used + strlen(more) + 1);
    if (!data) return -1;
    text->data = data;
  }
  strcpy(text->data + text->used, more);
  return 0;
}
int field_ok(struct node *node, struct text *text) {
  char *first = malloc(8);
  if (!first) return -1;
  if (text_add(text, node->name)) return -1;
  free(first);
  return 0;
}
int tested_bad(struct node *node, struct text *text) {
  char *first = malloc(8);
  if (!first) return -1;
  if (text == NULL && text_add(text, node->name)) return -1;
  free(first);
  return 0;
}
int set_bad(struct node *node) {
  struct text *text = node->next ? node->text : NULL;
  char *first = malloc(8);
  if (!first) return -1;
  if (text_add(text, node->name)) return -1;
  free(first);
  return 0;
}
static int text_read(struct text *text, FILE *in) {
  if (text == NULL || in == NULL) return -1;
  return fread(text->data, 1, text->size, in) == 0 ? -1 : 0;
}
int other_reason_bad(struct text *text, FILE *in) {
  char *first = malloc(8);
  if (!first) return -1;
  if (text_read(text, in)) return -1;
  free(first);
  return 0;
}
)");
}

// The same of a function that takes the block, unless another argument is null.
TEST(Refusals, NullBesideWhatIsTaken) {
  expect_by_name(std::string(kHeader) + R"(
struct out { FILE *file; char *name; };
static struct out *out_new(FILE *file, char *name) {
  struct out *out;
  if (file == NULL) return NULL;
  out = malloc(sizeof *out);
  if (out == NULL) return NULL;
  out->file = file;
  out->name = name;
  return out;
}
static void out_free(struct out *out) { free(out->name); free(out); }
int write_ok(FILE *file, const char *text) {
  struct out *out;
  char *name = strdup("name");
  if (!name) return -1;
  out = out_new(file, name);
  if (out == NULL) return -1;
  fputs(text, out->file);
  out_free(out);
  return 0;
}
int write_bad(const char *path, const char *text) {
  struct out *out;
  char *name = strdup("name");
  if (!name) return -1;
  out = out_new(fopen(path, "w"), name);
  if (out == NULL) return -1;
  fputs(text, out->file);
  fclose(out->file);
  out_free(out);
  return 0;
}
)");
}

// A mutex is made, whatever the program does when it is not.
TEST(Refusals, AMutexThatCannotBeMade) {
  expect_by_name(std::string(kHeader) + R"(
#include <pthread.h>
struct answer { pthread_mutex_t lock; char *text; int frees; };
static struct answer *answer_new(char *text, int n) {
  if (n > 1000) return NULL;
  struct answer *out = calloc(1, sizeof *out);
  if (!out) return NULL;
  if (pthread_mutex_init(&out->lock, NULL) != 0) {
    free(out);
    return NULL;
  }
  out->text = text;
  return out;
}
int send_it(struct answer *answer);
int answer_ok(void) {
  char *text = strdup("text");
  if (!text) return -1;
  struct answer *answer = answer_new(text, 4);
  if (!answer) return -1;
  return send_it(answer);
}
int answer_bad(int n) {
  char *text = strdup("text");
  if (!text) return -1;
  struct answer *answer = answer_new(text, n);
  if (!answer) return -1;
  return send_it(answer);
}
)");
}

}  // namespace
}  // namespace plumb::check
