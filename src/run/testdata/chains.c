// Lost: a cycle of 3 (48 each), a list of 4 (32 each) with a cycle of 2 at its
// end, a block that points to itself (64).
#include "leak.h"

struct node {
  struct node *next;
};

static struct node *node(size_t size, struct node *next) {
  struct node *made = make(size);
  made->next = next;
  return made;
}

static void drop_nodes(struct node *first, int count) {
  if (!kClean) return;
  while (count-- > 0) {
    struct node *next = first->next;
    free(first);
    first = next;
  }
}

static __attribute__((noinline)) void work(void) {
  struct node *c = node(48, NULL);
  struct node *a = node(48, node(48, c));
  c->next = a;
  drop_nodes(a, 3);
  struct node *tail = node(32, NULL);
  tail->next = node(32, tail);
  drop_nodes(node(32, node(32, node(32, node(32, tail)))), 6);
  struct node *self = node(64, NULL);
  self->next = self;
  drop_nodes(self, 1);
}

int main(void) {
  work();
  scrub();
  return 0;
}
