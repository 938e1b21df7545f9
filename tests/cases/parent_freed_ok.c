// CASE: Three levels, freed from the bottom up.
// EXPECT: none
#include "case.h"

struct Level {
  struct Level* below;
  void* data;
};

static void run(void) {
  struct Level* top = calloc(1, sizeof *top);
  top->below = calloc(1, sizeof *top);
  top->below->data = malloc(48);
  memset(top->below->data, 1, 48);
  touch(top->below);
  free(top->below->data);
  free(top->below);
  free(top);
}

int main(void) { run(); }
