// CASE: A compare-and-swap takes the head of a stack off; who took it forgets it.
// EXPECT: lost 1 block 24 bytes
// CAUSE: scope-end
#include <stdatomic.h>

#include "../case.h"

struct node {
  struct node* next;
  long value;
  long spare;
};
_Atomic(struct node*) top;

static void push(void) {
  struct node* node = calloc(1, sizeof *node);  // ALLOC
  node->next = atomic_load(&top);
  while (!atomic_compare_exchange_weak(&top, &node->next, node)) {
  }
}

static void pop(void) {
  struct node* node = atomic_load(&top);
  while (node && !atomic_compare_exchange_weak(&top, &node, node->next)) {
  }
  touch(node);  // USE
}  // LOSS node

int main(void) {
  push();
  pop();
}
