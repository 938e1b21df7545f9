// A reference goes in a helper with two callers; which of them, only its calls say.
#include <stdlib.h>

struct box {
  char* volatile name;
};

__attribute__((noinline)) static void clear(struct box* box) { box->name = NULL; }

__attribute__((noinline)) static int close_box(struct box* box) {
  clear(box);
  return box->name == NULL;
}

__attribute__((noinline)) static int empty_box(struct box* box) {
  char* name = box->name;
  clear(box);
  free(name);
  return box->name == NULL;
}

int main(int count, char** arguments) {
  (void)arguments;
  struct box box = {malloc(30)};
  int sum = count > 1 ? empty_box(&box) : close_box(&box);
  return sum == 1 ? 0 : 1;
}
