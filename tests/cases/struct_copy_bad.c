// CASE: Assigning a whole struct overwrites a member that owned a block.
// EXPECT: lost 1 block 30 bytes
// CAUSE: overwritten
// GAP(run, -O2, gcc): holder - the debug information has no variable there
// GAP(run, -O2, gcc): cause - the optimiser left only a register, which ends with its last use
#include "case.h"

struct Text {
  char* data;
  size_t length;
};

static struct Text make_text(size_t length) {
  struct Text text = {malloc(length), length};  // WRAPPER
  text.data[0] = 't';
  return text;
}

static void replace(void) {
  struct Text text = make_text(30);  // ALLOC
  touch(text.data);                  // USE
  text = make_text(60);              // LOSS text.data
  touch(text.data);
  free(text.data);
}

int main(void) { replace(); }
