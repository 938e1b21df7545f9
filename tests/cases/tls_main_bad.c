// CASE: A thread-local of the main thread is overwritten.
// EXPECT(a): lost 1 block 11 bytes
// CAUSE(a): overwritten
// EXPECT(b): forgotten 1 block 13 bytes
#include "case.h"

__thread char* t_name;

static void rename_thread(void) {
  t_name = malloc(11);  // ALLOC(a)
  t_name[0] = 'a';
  touch(t_name);        // USE(a)
  t_name = malloc(13);  // ALLOC(b); LOSS(a) t_name
  t_name[0] = 'b';
  touch(t_name);
}

int main(void) { rename_thread(); }
