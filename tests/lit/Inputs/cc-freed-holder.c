// A variable that still has the address of a freed block refers to nothing: its end is
// not where the next block at that address is lost.
#include <stdlib.h>
#include <string.h>

char *kept;

__attribute__((noinline)) static void lose(void) {
  kept = malloc(48);
  memset(kept, 1, 48);
  kept = NULL;
}

// The first element was freed and may have got another block since.
__attribute__((noinline)) static void lose_element(int at) {
  char *parts[2];
  parts[0] = malloc(50);
  parts[0][0] = 'a';
  free(parts[0]);
  parts[at] = malloc(52);
  parts[at][0] = 'b';
}

int main(int argc, char **argv) {
  char *p = malloc(48);
  p[0] = (char)argc;
  const int first = p[0];
  free(p);
  lose();
  lose_element(argc - 1);
  char **names = malloc(sizeof *names);
  names[0] = strdup("a name, and it is as long as that of the next one");
  free(names[0]);
  names[0] = NULL;
  free(names);
  return first == 77;
}
