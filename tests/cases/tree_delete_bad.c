// CASE: A tree's node takes over its successor's payload, and drops its own.
// EXPECT: lost 1 block 40 bytes
// CAUSE: overwritten
// GAP(check): found - the shape of a tree built by recursion is not known
#include "case.h"

struct Node {
  long key;
  char* payload;
  struct Node *left, *right;
};

static struct Node* insert(struct Node* at, long key) {
  if (at == 0) {
    at = calloc(1, sizeof *at);
    at->key = key;
    at->payload = malloc(40);  // ALLOC
    at->payload[0] = 'p';      // USE
    return at;
  }
  if (key < at->key)
    at->left = insert(at->left, key);
  else
    at->right = insert(at->right, key);
  return at;
}

static struct Node* erase(struct Node* at, long key) {
  if (key < at->key) {
    at->left = erase(at->left, key);
    return at;
  }
  if (key > at->key) {
    at->right = erase(at->right, key);
    return at;
  }
  struct Node* next = at->right;
  while (next->left) next = next->left;
  at->key = next->key;
  at->payload = next->payload;  // LOSS at->payload
  next->payload = 0;
  struct Node* rest = next->right;
  if (at->right == next) at->right = rest;
  free(next);
  return at;
}

static void clear(struct Node* at) {
  if (at == 0) return;
  clear(at->left);
  clear(at->right);
  free(at->payload);
  free(at);
}

int main(void) {
  struct Node* root = 0;
  for (long i = 0; i < 5; i++) root = insert(root, opaque((i * 3) % 5));
  root = erase(root, opaque(3));
  clear(root);
  return 0;
}
