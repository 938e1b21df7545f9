// Loses a block at a time until there are no more addresses.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  for (int lost = 0;; lost++) {
    char* block = malloc(1 << 20);
    if (block == NULL) {
      puts("out of memory");
      return lost > 10 ? 3 : 1;
    }
    memset(block, 1, 1 << 20);
  }
}
