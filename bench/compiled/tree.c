/* A balanced-by-luck tree: pointers are followed and turned, little is allocated. */
#include <stdio.h>
#include <stdlib.h>

struct tree {
  unsigned key, priority;
  struct tree *left, *right;
};

static struct tree* insert(struct tree* tree, unsigned key, unsigned priority) {
  if (!tree) {
    tree = malloc(sizeof *tree);
    *tree = (struct tree){key, priority, NULL, NULL};
    return tree;
  }
  if (key < tree->key) {
    tree->left = insert(tree->left, key, priority);
    if (tree->left->priority > tree->priority) {
      struct tree* up = tree->left;
      tree->left = up->right;
      up->right = tree;
      return up;
    }
  } else if (key > tree->key) {
    tree->right = insert(tree->right, key, priority);
    if (tree->right->priority > tree->priority) {
      struct tree* up = tree->right;
      tree->right = up->left;
      up->left = tree;
      return up;
    }
  }
  return tree;
}

static void release(struct tree* tree) {
  if (!tree) return;
  release(tree->left);
  release(tree->right);
  free(tree);
}

int main(int count, char** arguments) {
  const long times = count > 1 ? atol(arguments[1]) : 1;
  struct tree* root = NULL;
  unsigned seed = 7;
  for (int i = 0; i < 400000; i++) {
    seed = seed * 1664525 + 1013904223;
    root = insert(root, seed >> 8, seed * 2654435761u);
  }
  long found = 0;
  for (long i = 0; i < times * 2000000; i++) {
    seed = seed * 1664525 + 1013904223;
    for (struct tree* at = root; at;) {
      if (at->key == seed >> 8) {
        found++;
        break;
      }
      at = seed >> 8 < at->key ? at->left : at->right;
    }
  }
  printf("%ld\n", found);
  release(root);
  return 0;
}
