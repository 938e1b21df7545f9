// Variables that only borrow what they hold, and such that have it alone.
#include <stdlib.h>
#include <string.h>

struct pair {
  char* first;
  char* second;
  unsigned char kind;
};
struct reader {
  char* at;
  int count;
};

__attribute__((noinline)) static int look(const char* text) { return *(volatile const char*)text; }

__attribute__((noinline)) static int take(struct pair* pair, int which, int clear) {
  char* taken;
  if (which)
    taken = pair->first;
  else
    taken = pair->second;
  pair->kind = 1;
  if (clear) {
    if (which)
      pair->first = NULL;
    else
      pair->second = NULL;
  }
  return look(taken);
}

__attribute__((noinline)) static void skip(struct reader* reader, int count) {
  for (int i = 0; i < count; i++) {
    reader->count += *reader->at;
    reader->at = reader->at + 1;
  }
}

__attribute__((noinline)) static void restart(struct reader* reader, char* text) {
  look(reader->at);
  reader->at = text;
  skip(reader, 3);
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  struct pair* pair = malloc(sizeof *pair);
  pair->first = calloc(1, 40);
  pair->second = calloc(1, 41);
  take(pair, 1, strcmp(what, "chosen") == 0);
  struct reader* reader = malloc(sizeof *reader);
  char* text = calloc(1, 32);
  reader->count = 0;
  reader->at = calloc(1, 64);
  char* volatile* kept = malloc(sizeof *kept);
  *kept = strcmp(what, "cursor") == 0 ? NULL : reader->at;
  skip(reader, 10);
  restart(reader, text);
  free(*kept);
  free((void*)kept);
  free(text);
  free(reader);
  free(pair->first);
  free(pair->second);
  free(pair);
  return 0;
}
