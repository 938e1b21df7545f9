// CASE: A wrapper of realloc moves an array of names; one of them is never freed.
// EXPECT: lost 1 block 24 bytes
// CAUSE: holder-freed
#include "case.h"

static void* grow(void* memory, size_t size) {
  void* larger = realloc(memory, size);
  if (!larger) exit(1);
  return larger;
}

static void collect(size_t room) {
  char** names = malloc(room * sizeof(char*));
  names[0] = malloc(24);  // ALLOC
  names[0][0] = 'n';
  names = grow(names, 64 * room * sizeof(char*));
  touch(names[0]);  // USE
  free(names);      // LOSS names[0] | names[] | *names
}

int main(void) {
  collect((size_t)opaque(2));
  return 0;
}
