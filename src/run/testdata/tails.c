// A function that jumps into the one that it calls last (gcc and clang do with -O2) has what
// it passed on: 40 and 48 bytes are lost in lose_by_one and lose_by_two.
#include <stdio.h>

#include "leak.h"

static long total;

static __attribute__((noinline)) void look(const char *block) {
  total += block[0];
  if (kClean) free((void *)block);
}
static __attribute__((noinline)) void pass(const char *block) {
  total += block[1];
  look(block);
}

static __attribute__((noinline)) void lose_by_one(void) {
  char *block = hide(calloc(1, 40));
  block[0] = 1;
  look(block);
}
static __attribute__((noinline)) void lose_by_two(void) {
  char *block = hide(calloc(1, 48));
  block[1] = 2;
  pass(block);
}
static __attribute__((noinline)) void lose_in_library(void) {
  char *block = hide(calloc(1, 56));
  block[0] = 'x';
  if (kClean) {
    puts(block);
    free(block);
  } else {
    puts(block);
  }
}

int main(void) {
  lose_by_one();
  lose_by_two();
  lose_in_library();
  scrub();
  return (int)total - 3;
}
