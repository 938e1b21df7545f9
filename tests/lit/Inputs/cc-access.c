#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
  long count;
  char text[56];
};

__attribute__((noinline)) static struct item *make(void) { return calloc(1, sizeof(struct item)); }

__attribute__((noinline)) static void fill(struct item *one) { one->count = 7; }

__attribute__((noinline)) static void name(struct item *one) { strcpy(one->text, "first"); }

__attribute__((noinline)) static int measure(struct item *one) {
  return (int)strlen(one->text);
}

__attribute__((noinline)) static void lose(struct item *one) { one = NULL; }

int main(int count, char **words) {
  struct item *one = make();
  name(one);
  fill(one);
  if (count > 1 && strcmp(words[1], "measured") == 0) printf("%d\n", measure(one));
  lose(one);
  one = NULL;
  struct item *other = make();
  fill(other);
  free(other);
}
