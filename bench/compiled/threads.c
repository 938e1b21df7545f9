/* churn.c's work in eight threads at once, each with lists of its own. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node* next;
  char text[24];
};

static void* work(void* argument) {
  struct node* lists[64] = {0};
  unsigned seed = (unsigned)(size_t)argument;
  for (long i = 0; i < 15000000; i++) {
    seed = seed * 1664525 + 1013904223;
    struct node** list = &lists[seed >> 26];
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
  for (int i = 0; i < 64; i++) {
    while (lists[i]) {
      struct node* gone = lists[i];
      lists[i] = gone->next;
      free(gone);
    }
  }
  return NULL;
}

int main(void) {
  pthread_t threads[8];
  for (size_t i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, (void*)(i + 1));
  for (size_t i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  return 0;
}
