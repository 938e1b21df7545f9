// CASE: A thread-local of the main thread holds a block to the end.
// EXPECT: forgotten 1 block 13 bytes
#include "case.h"

__thread char* t_name;

static void rename_thread(void) {
  t_name = malloc(11);
  t_name[0] = 'a';
  touch(t_name);
  free(t_name);
  t_name = malloc(13);  // ALLOC
  t_name[0] = 'b';
  touch(t_name);
}

int main(void) { rename_thread(); }
