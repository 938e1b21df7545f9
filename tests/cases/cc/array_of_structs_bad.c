// CASE: An element of an array of structures gets a new name over the old.
// EXPECT: lost 1 block 21 bytes
// CAUSE: overwritten
#include "../case.h"

struct entry {
  int id;
  char* name;
};
struct entry table[8];

static void rename_entry(int i, char* name) {
  table[i].name = name;  // LOSS table[i].name | table[...].name | table[3].name
}

int main(void) {
  char* first = malloc(21);  // ALLOC
  touch(first);              // USE
  rename_entry((int)opaque(3), first);
  first = NULL;
  rename_entry((int)opaque(3), NULL);
}
