// CASE: The buffer of a memory stream outlives the stream, and nobody frees it.
// EXPECT: lost 1 block 9 bytes
// CAUSE: scope-end
// FLAGS: -D_GNU_SOURCE
// GAP(check): found, false-alarm - the buffer counts as allocated where the stream is opened
#include <stdio.h>

#include "case.h"

static void describe(void) {
  char* text = NULL;
  size_t length = 0;
  FILE* stream = open_memstream(&text, &length);
  fprintf(stream, "value %ld", opaque(42));
  fclose(stream);  // ALLOC
  touch(text);     // USE
}  // LOSS text

int main(void) { describe(); }
