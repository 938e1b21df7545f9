// CASE: One reference of a counted object is never given back.
// EXPECT: lost 1 block 24 bytes, indirect 1 block 10 bytes
// CAUSE: scope-end
#include "case.h"

struct Shared {
  long count;
  char* text;
  long spare;
};

static struct Shared* create(void) {
  struct Shared* shared = calloc(1, sizeof *shared);  // ALLOC
  shared->text = malloc(10);                          // ALLOC
  shared->text[0] = 's';
  shared->count = 1;
  return shared;
}

static struct Shared* get(struct Shared* shared) {
  shared->count++;
  return shared;
}

static void put(struct Shared* shared) {
  if (--shared->count) return;
  free(shared->text);
  free(shared);
}

static void use(void) {
  struct Shared* mine = create();
  struct Shared* yours = get(mine);
  touch(mine);
  put(mine);
  touch(yours);  // USE
}  // LOSS yours | mine

int main(void) { use(); }
