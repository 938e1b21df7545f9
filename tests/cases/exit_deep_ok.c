// CASE: exit is called deep in the program while a global holds a block.
// EXPECT: forgotten 1 block 34 bytes
// STATUS: 7
#include <stdio.h>

#include "case.h"

char* g_text;

static void finish(long status) {
  printf("bye\n");
  exit((int)status);
}

static void start(void) {
  g_text = malloc(34);  // ALLOC
  g_text[0] = 't';
  touch(g_text);
  finish(opaque(7));
}

int main(void) { start(); }
