// CASE: A subtree is cut off and forgotten.
// EXPECT: lost 1 block 24 bytes, indirect 2 blocks 48 bytes
// CAUSE: overwritten
// GAP(run, -O2): holder - the debug information has no variable there
// GAP(run, -O2): cause - the optimiser left only a register, which ends with its last use
// GAP(check): place, function - lost in the callee, reported at the call
#include "case.h"

struct Tree {
  struct Tree* left;
  struct Tree* right;
  long key;
};

static struct Tree* make_leaf(long key) {
  struct Tree* tree = calloc(1, sizeof *tree);
  tree->key = key;
  return tree;
}

static struct Tree* make_branch(long key) {
  struct Tree* tree = calloc(1, sizeof *tree);   // ALLOC
  tree->left = calloc(1, sizeof *tree->left);    // ALLOC
  tree->right = calloc(1, sizeof *tree->right);  // ALLOC
  tree->key = key;
  return tree;
}

static void free_tree(struct Tree* tree) {
  if (!tree) return;
  free_tree(tree->left);
  free_tree(tree->right);
  free(tree);
}

static void prune(struct Tree* tree) {
  touch(tree->left);  // USE
  tree->left = NULL;  // LOSS tree->left
}

static void grow(void) {
  struct Tree* root = make_leaf(opaque(1));
  root->left = make_branch(opaque(2));
  root->right = make_leaf(opaque(3));
  prune(root);
  free_tree(root);
}

int main(void) { grow(); }
