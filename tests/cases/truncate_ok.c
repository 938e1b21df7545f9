// CASE: A list is cut off behind its second element, and the rest is freed.
// EXPECT: none
#include "case.h"

struct Cell {
  long value;
  struct Cell* next;
};

static struct Cell* cons(long value, struct Cell* next) {
  struct Cell* cell = malloc(sizeof *cell);
  cell->value = value;
  cell->next = next;
  return cell;
}

static void keep(struct Cell* cell, long count) {
  if (count > 1) {
    keep(cell->next, count - 1);
    return;
  }
  while (cell->next) {
    struct Cell* rest = cell->next;
    cell->next = rest->next;
    free(rest);
  }
}

int main(void) {
  struct Cell* list = 0;
  for (long i = 0; i < opaque(5); i++) list = cons(i, list);
  keep(list, opaque(2));
  while (list) {
    struct Cell* next = list->next;
    free(list);
    list = next;
  }
  return 0;
}
