// CASE: A structure is cleared with memset although it holds a block.
// EXPECT: lost 1 block 52 bytes
// CAUSE: overwritten
#include <string.h>

#include "../case.h"

struct state {
  long count;
  char* buffer;
  long more;
};
struct state state;

static void reset(struct state* s) {
  memset(s, 0, sizeof *s);  // LOSS s->buffer
}

int main(void) {
  state.buffer = malloc(52);  // ALLOC
  touch(state.buffer);        // USE
  reset(&state);
}
