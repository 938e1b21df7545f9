// CASE: The first context is freed when the second comes.
// EXPECT: none
#include "../case.h"

struct hook {
  void (*run)(void*);
  void* context;
};
struct hook hooks[2];

static void nothing(void* context) { touch(context); }

static void set_hook(int at, void (*run)(void*), void* context) {
  free(hooks[at].context);
  hooks[at].run = run;
  hooks[at].context = context;
}

int main(void) {
  char* context = malloc(48);
  set_hook(1, nothing, context);
  context = NULL;
  hooks[1].run(hooks[1].context);
  set_hook(1, nothing, NULL);
}
