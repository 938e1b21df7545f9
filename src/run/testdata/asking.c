// Asks what is lost, and ends when the answer is not what it should be. 24 bytes are lost
// and told, 40 are lost and excused, then 56 are lost.
#include <stdio.h>

#include "leak.h"
#include "plumb.h"

static void expect(size_t found, size_t right) {
  if (plumb_runtime() != 0 && found != right) exit(3);
}

int main(void) {
  const size_t one = kClean ? 0 : 1;
  scrub();
  expect(plumb_lost_blocks(), 0);
  drop(make(24));
  scrub();
  expect(plumb_lost_blocks(), one);
  expect(plumb_lost_bytes(), 24 * one);
  plumb_forget_lost();
  expect(plumb_lost_blocks(), 0);
  drop(make(40));
  scrub();
  expect(plumb_excuse_lost().bytes, 40 * one);
  expect(plumb_lost_blocks(), 0);
  drop(make(56));
  scrub();
  expect(plumb_lost_bytes(), 56 * one);
  return 0;
}
