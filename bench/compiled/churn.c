/* Many small blocks, short lives: what an allocator is asked most. */
#include <stdlib.h>
#include <string.h>

struct node {
  struct node* next;
  char text[24];
};

int main(void) {
  static struct node* lists[256];
  unsigned seed = 1;
  for (long i = 0; i < 100000000; i++) {
    seed = seed * 1664525 + 1013904223;
    struct node** list = &lists[seed >> 24];
    if ((seed >> 20 & 3) == 0 && *list) {
      struct node* first = *list;
      *list = first->next;
      free(first);
    } else if ((seed >> 16 & 1) != 0) {
      struct node* fresh = malloc(sizeof *fresh);
      memcpy(fresh->text, "some text of a node ...", 24);
      fresh->next = *list;
      *list = fresh;
    } else {
      while (*list && (seed = seed * 5 + 1) % 3 != 0) {
        struct node* gone = *list;
        *list = gone->next;
        free(gone);
      }
    }
  }
  for (int i = 0; i < 256; i++) {
    while (lists[i]) {
      struct node* gone = lists[i];
      lists[i] = gone->next;
      free(gone);
    }
  }
  return 0;
}
