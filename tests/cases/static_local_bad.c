// CASE: A static local is overwritten at each call.
// EXPECT(a): lost 2 blocks 100 bytes
// CAUSE(a): overwritten
// GAP(run, -O0): use - the optimiser left only a register, which ends with its last use
// GAP(run, -O2, clang): use - the optimiser left only a register, which ends with its last use
// GAP(run, -O2, gcc): holder - the debug information has no variable there
// GAP(run, -O2, gcc): cause, function, place - the optimiser left only a register, which ends with its last use
// GAP(check): place(a), function(a) - lost in the callee, reported at the call
#include "case.h"

static const char* format(long number) {
  static char* buffer;
  char* fresh = malloc(50);  // ALLOC(a)
  fresh[0] = (char)('0' + number);
  buffer = fresh;  // LOSS(a) buffer
  return buffer;
}

static void clear(void) {
  static char* last;
  last = (char*)format(opaque(3));
  touch(last);
  free(last);
}

int main(void) {
  touch(format(opaque(1)));
  touch(format(opaque(2)));  // USE(a)
  clear();
}
