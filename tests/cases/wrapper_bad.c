// CASE: Two callers of one allocation wrapper; one of them leaks.
// EXPECT: lost 1 block 77 bytes
// CAUSE: scope-end
#include "case.h"

static void* xmalloc(size_t size) {
  void* block = malloc(size);  // WRAPPER
  if (!block) abort();
  return block;
}

static void tidy(void) {
  char* text = xmalloc(33);
  text[0] = 't';
  touch(text);
  free(text);
}

static void untidy(void) {
  char* text = xmalloc(77);  // ALLOC
  text[0] = 'u';
  touch(text);  // USE
}  // LOSS text

int main(void) {
  tidy();
  untidy();
}
