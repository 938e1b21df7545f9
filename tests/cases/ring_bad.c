// CASE: The only outside pointer to a doubly linked ring goes.
// EXPECT: lost 1 block 24 bytes, indirect 2 blocks 48 bytes
// CAUSE: scope-end
// GAP(run, -O2): holder - the debug information has no variable there
// GAP(run, -O2, clang): function, place, use - the optimiser left only a register, which ends with its last use
// GAP(check): found - nodes of a list are not told apart
#include "case.h"

struct Node {
  struct Node* next;
  struct Node* previous;
  long value;
};

static struct Node* insert_after(struct Node* place, long value) {
  struct Node* node = malloc(sizeof *node);  // ALLOC
  node->value = value;
  node->next = place ? place->next : node;
  node->previous = place ? place : node;
  node->next->previous = node;
  node->previous->next = node;
  return node;
}

static long play(void) {
  struct Node* ring = insert_after(NULL, opaque(1));
  insert_after(ring, opaque(2));
  insert_after(ring, opaque(3));
  return ring->next->value;  // USE; LOSS ring
}  // LOSS ring

int main(void) { return play() == 3 ? 0 : 1; }
