// CASE: A callback is registered twice; the first context is overwritten in the table.
// EXPECT: lost 1 block 48 bytes
// CAUSE: overwritten
#include "../case.h"

struct hook {
  void (*run)(void*);
  void* context;
};
struct hook hooks[2];

static void nothing(void* context) { touch(context); }

static void set_hook(int at, void (*run)(void*), void* context) {
  hooks[at].run = run;
  hooks[at].context = context;  // LOSS hooks[at].context | hooks[...].context | hooks[1].context
}

int main(void) {
  char* context = malloc(48);  // ALLOC
  set_hook(1, nothing, context);
  context = NULL;
  hooks[1].run(hooks[1].context);  // USE
  set_hook(1, nothing, NULL);
}
