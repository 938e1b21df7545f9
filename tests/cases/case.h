// What the cases share: two helpers that no optimiser looks through, so that a
// leak in the source is a leak in the program at every level. Both are weak:
// a compiler must assume that another definition may replace them at link time,
// while their bodies stay readable to an analyser.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CASE_OPAQUE __attribute__((weak, noinline))

// A use of what `memory` points to: reads its first byte.
CASE_OPAQUE void touch(const void* memory) {
  volatile unsigned char first = *(const unsigned char*)memory;
  (void)first;
}

// Its argument, which the optimiser does not know.
CASE_OPAQUE long opaque(long value) { return value; }

#ifdef __cplusplus
}
#endif
