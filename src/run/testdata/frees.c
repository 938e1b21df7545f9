// Frees everything: 1,000 blocks of 48 bytes.
#include "leak.h"

int main(void) {
  for (int i = 0; i < 1000; ++i) {
    void *block = make(48);
    free(block);
  }
  scrub();
  return 0;
}
