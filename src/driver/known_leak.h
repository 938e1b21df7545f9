/* The blocks of known_leak.c. Odd sizes, so that nothing else has them. */
#ifndef PLUMB_DRIVER_KNOWN_LEAK_H
#define PLUMB_DRIVER_KNOWN_LEAK_H

enum {
  kLostBytes = 4801,     /* nothing refers to it */
  kHangingBytes = 1603,  /* only the lost block does */
  kForgottenBytes = 2203 /* a global does */
};

#endif
