// CASE: The block is freed before the structure is cleared.
// EXPECT: none
#include <string.h>

#include "../case.h"

struct state {
  long count;
  char* buffer;
  long more;
};
struct state state;

static void reset(struct state* s) {
  free(s->buffer);
  memset(s, 0, sizeof *s);
}

int main(void) {
  state.buffer = malloc(52);
  touch(state.buffer);
  reset(&state);
}
