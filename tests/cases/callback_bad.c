// CASE: The user data of a callback is dropped when the callback is removed.
// EXPECT: lost 1 block 16 bytes
// CAUSE: overwritten
// GAP(run, -O2, gcc): use - a tail call leaves no frame of the function behind
// GAP(check): found - what a global holds is not followed
#include "case.h"

struct Timer {
  void (*call)(void* data);
  void* data;
};

struct Timer g_timer;

static void print(void* data) {
  touch(data);  // USE
}

static void arm(void) {
  long* data = malloc(16);  // ALLOC
  data[0] = 1;
  g_timer.call = print;
  g_timer.data = data;
}

static void disarm(void) {
  g_timer.call = NULL;
  g_timer.data = NULL;  // LOSS g_timer.data
}

int main(void) {
  arm();
  g_timer.call(g_timer.data);
  disarm();
}
