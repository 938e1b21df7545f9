// CASE: The buffer of a memory stream is freed after the stream.
// EXPECT: none
// FLAGS: -D_GNU_SOURCE
#include <stdio.h>

#include "case.h"

static void describe(void) {
  char* text = NULL;
  size_t length = 0;
  FILE* stream = open_memstream(&text, &length);
  fprintf(stream, "value %ld", opaque(42));
  fclose(stream);
  touch(text);
  free(text);
}

int main(void) { describe(); }
