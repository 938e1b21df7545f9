#include <stdlib.h>
#include <string.h>

struct node {
  struct node* other;
  char* name;
};
static struct node* ring;

static void make_ring(void) {
  struct node* a = calloc(1, sizeof *a);
  struct node* b = calloc(1, sizeof *b);
  a->other = b;
  b->other = a;
  ring = a;
}
static void cut_ring(void) { ring = NULL; }
static void free_ring(void) {
  free(ring->other);
  free(ring);
}

static struct node* make_named(void) {
  struct node* it = calloc(1, sizeof *it);
  it->name = malloc(77);
  it->name[0] = 'x';
  return it;
}
static void free_holder(struct node* it) { free(it); }

int main(int argc, char** argv) {
  const int lose = argc > 1 && strcmp(argv[1], "lose") == 0;
  make_ring();
  struct node* named = make_named();
  if (lose) {
    cut_ring();
  } else {
    free_ring();
    free(named->name);
  }
  free_holder(named);
  return 0;
}
