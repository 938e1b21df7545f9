// A tree that is freed in a recursion; one of its nodes has a name that nobody frees.
#include <stdlib.h>

struct node {
  struct node *left, *right;
  char* name;
};

static struct node* make(int depth) {
  struct node* node = calloc(1, sizeof *node);
  if (depth > 0) node->left = make(depth - 1);
  if (depth > 0) node->right = make(depth - 1);
  return node;
}

static struct node* leftmost(struct node* node) {
  while (node->left != NULL) node = node->left;
  return node;
}

__attribute__((noinline)) static void destroy(struct node* node) {
  if (node == NULL) return;
  destroy(node->left);
  destroy(node->right);
  free(node);
}

static volatile int closed;
__attribute__((noinline)) static void close_tree(struct node* node) {
  destroy(node);
  closed = 1;
}

int main(int argc, char** argv) {
  struct node* root = make(6);
  leftmost(root)->name = malloc(30);
  if (argc > 1) free(leftmost(root)->name);
  close_tree(root);
  return argv[0] == NULL || !closed;
}
