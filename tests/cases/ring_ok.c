// CASE: A doubly linked ring is taken apart.
// EXPECT: none
#include "case.h"

struct Node {
  struct Node* next;
  struct Node* previous;
  long value;
};

static struct Node* insert_after(struct Node* place, long value) {
  struct Node* node = malloc(sizeof *node);
  node->value = value;
  node->next = place ? place->next : node;
  node->previous = place ? place : node;
  node->next->previous = node;
  node->previous->next = node;
  return node;
}

static void remove_all(struct Node* ring) {
  while (ring->next != ring) {
    struct Node* victim = ring->next;
    ring->next = victim->next;
    victim->next->previous = ring;
    free(victim);
  }
  free(ring);
}

static long play(void) {
  struct Node* ring = insert_after(NULL, opaque(1));
  insert_after(ring, opaque(2));
  insert_after(ring, opaque(3));
  long value = ring->next->value;
  remove_all(ring);
  return value;
}

int main(void) { return play() == 3 ? 0 : 1; }
