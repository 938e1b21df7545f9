// CASE: gcc's spelling_base: a saved pointer is put back over what was allocated since.
// EXPECT: lost 1 block 256 bytes
// CAUSE: overwritten
// GAP(check): place, function - lost in the callee, reported at the call
#include "case.h"

struct Spelling {
  long kind;
  const char* name;
};

struct Initializer {
  struct Spelling* saved_base;
  struct Spelling* saved_top;
  long saved_room;
};

static struct Spelling* spelling_base;
static struct Spelling* spelling_top;
static long spelling_room;

static void push_string(const char* name) {
  if (spelling_top - spelling_base >= spelling_room) {
    long depth = spelling_top - spelling_base;
    spelling_room += 16;
    if (spelling_base == 0)
      spelling_base = malloc(spelling_room * sizeof(struct Spelling));  // ALLOC
    else
      spelling_base = realloc(spelling_base, spelling_room * sizeof(struct Spelling));
    spelling_top = spelling_base + depth;
  }
  spelling_top->kind = 1;     // USE
  spelling_top->name = name;  // USE
  spelling_top++;
}

static void start_init(struct Initializer* p) {
  p->saved_base = spelling_base;
  p->saved_top = spelling_top;
  p->saved_room = spelling_room;
  spelling_base = 0;
  spelling_top = 0;
  spelling_room = 0;
}

static void finish_init(struct Initializer* p) {
  spelling_base = p->saved_base;  // LOSS spelling_base
  spelling_top = p->saved_top;    // LOSS spelling_top
  spelling_room = p->saved_room;
}

int main(void) {
  struct Initializer initializer;
  start_init(&initializer);
  for (long i = 0; i < opaque(3); i++) push_string("member");
  finish_init(&initializer);
  return 0;
}
