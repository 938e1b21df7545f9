// CASE: exit is called deep in the program after a block was lost; output is flushed.
// EXPECT: lost 1 block 34 bytes
// CAUSE: overwritten
// STATUS: 7
// GAP(check): found - what a global holds is not followed
#include <stdio.h>

#include "case.h"

char* g_text;

static void finish(long status) {
  g_text = NULL;  // LOSS g_text
  printf("bye\n");
  exit((int)status);
}

static void start(void) {
  g_text = malloc(34);  // ALLOC
  g_text[0] = 't';
  touch(g_text);  // USE
  finish(opaque(7));
}

int main(void) { start(); }
