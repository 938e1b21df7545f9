// CASE: Two callers of one allocation wrapper, and one of the freeing wrapper.
// EXPECT: none
#include "case.h"

static void* xmalloc(size_t size) {
  void* block = malloc(size);
  if (!block) abort();
  return block;
}

static void xfree(void** block) {
  free(*block);
  *block = NULL;
}

static void tidy(void) {
  void* text = xmalloc(33);
  memset(text, 't', 33);
  touch(text);
  xfree(&text);
}

static void also_tidy(void) {
  char* text = xmalloc(77);
  text[0] = 'u';
  touch(text);
  free(text);
}

int main(void) {
  tidy();
  also_tidy();
}
