// CASE: Who joins it frees the list.
// EXPECT: none
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
    struct node* node = calloc(1, sizeof *node);
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
  touch(list->next);
  while (list) {
    struct node* next = list->next;
    free(list);
    list = next;
  }
}

int main(void) { use(); }
