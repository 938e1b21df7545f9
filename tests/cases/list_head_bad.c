// CASE: The head of a singly linked list is overwritten.
// EXPECT: lost 1 block 16 bytes, indirect 3 blocks 48 bytes
// CAUSE: overwritten
// GAP(check): found - nodes of a list are not told apart
#include "case.h"

struct Node {
  struct Node* next;
  long value;
};

struct Node* head;

static void push(long value) {
  struct Node* node = malloc(sizeof *node);  // ALLOC
  node->value = value;
  node->next = head;
  head = node;
}

static long sum(void) {
  long total = 0;
  for (struct Node* node = head; node; node = node->next) total += node->value;
  return total;
}

static void reset(void) {
  head = NULL;  // LOSS head
}

int main(void) {
  for (long i = 0; i < 4; i++) push(opaque(i));
  long total = sum();
  reset();
  return total == 6 ? 0 : 1;
}
