// `unused` needs what is nowhere: the linker has to leave it out, and its tracing
// version with it.
#include <stdio.h>
#include <stdlib.h>

int nowhere(int value);

int unused(const int *values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += nowhere(values[i]);
  return sum;
}

__attribute__((noinline)) static int used(const int *values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += printf("%d\n", values[i]);
  return sum;
}

int main(void) {
  int *values = calloc(10, sizeof *values);
  const int sum = used(values, 10);
  free(values);
  return sum != 20;
}
