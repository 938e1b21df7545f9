// CASE: A singly linked list is freed node by node.
// EXPECT: none
#include "case.h"

struct Node {
  struct Node* next;
  long value;
};

struct Node* head;

static void push(long value) {
  struct Node* node = malloc(sizeof *node);
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
  while (head) {
    struct Node* next = head->next;
    free(head);
    head = next;
  }
}

int main(void) {
  for (long i = 0; i < 4; i++) push(opaque(i));
  long total = sum();
  reset();
  return total == 6 ? 0 : 1;
}
