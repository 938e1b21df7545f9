// Lost: 3 blocks of 100 bytes from one place, one of 7; reachable: one of 50.
#include <stdio.h>

#include "leak.h"

static void *kept;

int main(void) {
  kept = make(50);
  volatile int count = 3;  // one place, also when optimised
  while (count-- > 0) drop(make(100));
  char *text = strdup("123456");
  drop(text);
  text = NULL;
  scrub();
  puts("output of the program");
  return 7;
}
