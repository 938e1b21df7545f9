// CASE: A list is cut off behind its second element.
// EXPECT: lost 1 block 16 bytes, indirect 2 blocks 32 bytes
// CAUSE: overwritten
// GAP(run, -O2): holder - the recursion became a loop without a variable for the cell
// GAP(check): found - the rest of a list is not followed
#include "case.h"

struct Cell {
  long value;
  struct Cell* next;
};

static struct Cell* cons(long value, struct Cell* next) {
  struct Cell* cell = malloc(sizeof *cell);  // ALLOC
  cell->value = value;
  cell->next = next;
  return cell;
}

static void keep(struct Cell* cell, long count) {
  if (count > 1) {
    keep(cell->next, count - 1);
    return;
  }
  cell->next = 0;  // LOSS cell->next
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
