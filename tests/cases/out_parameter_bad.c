// CASE: An out-parameter that already holds a block is filled again.
// EXPECT: lost 1 block 18 bytes
// CAUSE: overwritten
// GAP(check): place, function - lost in the callee, reported at the call
#include "case.h"

static void default_name(char** out) {
  *out = malloc(18);  // ALLOC
  strcpy(*out, "default");
}

static void real_name(char** out) {
  *out = malloc(10);  // LOSS *out | name
  strcpy(*out, "real");
}

static void run(void) {
  char* name;
  default_name(&name);
  touch(name);  // USE
  real_name(&name);
  touch(name);
  free(name);
}

int main(void) { run(); }
