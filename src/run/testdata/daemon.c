// Loses 24 bytes, goes into the background, and loses 40 there.
#include <unistd.h>

#include "leak.h"

int main(void) {
  drop(make(24));
  scrub();
  if (daemon(1, 1) != 0) return 3;
  drop(make(40));
  scrub();
  return 0;
}
