#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next;
  long value[4];
};

__attribute__((noinline)) static struct node *make(int count) {
  struct node *list = NULL;
  for (int i = 0; i < count; i++) {
    struct node *one = calloc(1, sizeof *one);
    one->value[0] = i;
    one->next = list;
    list = one;
  }
  return list;
}

struct node *kept;

__attribute__((noinline)) static long walk(void) {
  long sum = 0;
  for (struct node *at = kept; at; at = at->next) sum += at->value[0];
  return sum;
}

__attribute__((noinline)) static long walked_away(void) {
  long sum = 0;
  struct node *own = make(3);
  while (own) {
    sum += own->value[0];
    own = own->next;
  }
  return sum;
}

__attribute__((noinline)) static long taken_apart(void) {
  long sum = 0;
  struct node *cut = make(3);
  while (cut) {
    struct node *rest = cut->next;
    sum += cut->value[0];
    cut->next = NULL;
    cut = rest;
  }
  return sum;
}

__attribute__((noinline)) static long cut_behind(void) {
  long sum = 0;
  struct node *last = NULL;
  struct node *gone = make(3);
  while (gone) {
    if (last) last->next = NULL;
    sum += gone->value[0];
    last = gone;
    gone = gone->next;
  }
  return sum;
}

int main(int count, char **words) {
  const char *wish = count > 1 ? words[1] : "";
  kept = make(5);
  printf("%ld\n", walk());
  if (strcmp(wish, "away") == 0) printf("%ld\n", walked_away());
  if (strcmp(wish, "apart") == 0) printf("%ld\n", taken_apart());
  if (strcmp(wish, "behind") == 0) printf("%ld\n", cut_behind());
}
