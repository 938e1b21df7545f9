// Functions that walk along a structure and free it.
#include "check/source_check.h"

namespace plumb::check {
namespace {

constexpr const char* kTree = R"(
struct node { int kind; char *name; struct node *left, *right, *parent; };
struct node *node_new(int kind) {
  if (kind < 1 || kind > 4) return NULL;
  struct node *made = calloc(1, sizeof *made);
  if (made) made->kind = kind;
  return made;
}
int more(void);
)";

// The leaves first, and from there upward: where the walk begins is not seen by itself.
constexpr const char* kDrop = R"(
void tree_drop(struct node *node) {
  size_t depth = 0;
  if (node == NULL) return;
  while (1) {
    struct node *parent;
    while (node->left || node->right) {
      node = node->left ? node->left : node->right;
      depth++;
    }
    switch (node->kind) {
      case 1: case 2: case 3: case 4: break;
      default: return;
    }
    free(node->name);
    parent = node->parent;
    if (depth == 0 || parent == NULL) {
      free(node);
      break;
    }
    if (node == parent->left) parent->left = NULL; else parent->right = NULL;
    free(node);
    if (parent->right) {
      node = parent->right;
    } else {
      depth--;
      node = parent;
    }
  }
}
)";

// The same walk frees what hangs on the nodes and no node.
constexpr const char* kStrip = R"(
void tree_strip(struct node *node) {
  size_t depth = 0;
  if (node == NULL) return;
  while (1) {
    struct node *parent;
    while (node->left || node->right) {
      node = node->left ? node->left : node->right;
      depth++;
    }
    free(node->name);
    node->name = NULL;
    parent = node->parent;
    if (depth == 0 || parent == NULL) break;
    node = parent;
    depth--;
  }
}
)";

TEST(Walk, FreesWhereItBegan) {
  expect_by_name(std::string(kHeader) + kTree + kDrop + R"(
struct node *parse_ok(int kind) {
  struct node *tree = node_new(kind);
  if (tree == NULL) return NULL;
  if (more()) {
    tree_drop(tree);
    return NULL;
  }
  return tree;
}
struct node *parse_bad(int kind) {
  struct node *tree = node_new(kind);
  if (tree == NULL) return NULL;
  if (more()) return NULL;
  return tree;
}
)");
}

TEST(Walk, FreesNoNode) {
  expect_by_name(std::string(kHeader) + kTree + kStrip + R"(
struct node *parse_bad(int kind) {
  struct node *tree = node_new(kind);
  if (tree == NULL) return NULL;
  if (more()) {
    tree_strip(tree);
    return NULL;
  }
  return tree;
}
struct node *parse_ok(int kind) {
  struct node *tree = node_new(kind);
  if (tree == NULL) return NULL;
  if (more()) {
    tree_strip(tree);
    free(tree);
    return NULL;
  }
  return tree;
}
)");
}

// What comes behind the first is freed: the first is not.
TEST(Walk, FreesWhatIsBehind) {
  expect_by_name(std::string(kHeader) + kTree + R"(
void rest_drop(struct node *first) {
  struct node *next = first->right;
  while (next) {
    struct node *after = next->right;
    free(next);
    next = after;
  }
}
void lone_bad(void) {
  struct node *tree = node_new(1);
  if (tree == NULL) return;
  rest_drop(tree);
}
void lone_ok(void) {
  struct node *tree = node_new(1);
  if (tree == NULL) return;
  rest_drop(tree);
  free(tree);
}
)");
}

}  // namespace
}  // namespace plumb::check
