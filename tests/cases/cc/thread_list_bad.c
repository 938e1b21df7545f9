// CASE: A thread makes a doubly linked list; who joins it forgets it.
// EXPECT: lost 1 block 24 bytes, indirect 2 blocks 48 bytes
// CAUSE: scope-end
// FLAGS: -pthread
#include <pthread.h>

#include "../case.h"

struct node {
  struct node* next;
  struct node* previous;
  long value;
};

static void* build(void* out) {
  struct node* head = NULL;
  for (long i = 0; i < opaque(3); i++) {
    struct node* node = calloc(1, sizeof *node);  // ALLOC
    node->next = head;
    if (head) head->previous = node;
    head = node;
  }
  *(struct node**)out = head;
  return NULL;
}

static void use(void) {
  struct node* list = NULL;
  pthread_t thread;
  pthread_create(&thread, NULL, build, &list);
  pthread_join(thread, NULL);
  touch(list->next);  // USE
}  // LOSS list

int main(void) { use(); }
