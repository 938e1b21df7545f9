// CASE: The old name is freed first.
// EXPECT: none
#include "../case.h"

struct entry {
  int id;
  char* name;
};
struct entry table[8];

static void rename_entry(int i, char* name) {
  free(table[i].name);
  table[i].name = name;
}

int main(void) {
  char* first = malloc(21);
  touch(first);
  rename_entry((int)opaque(3), first);
  first = NULL;
  rename_entry((int)opaque(3), NULL);
}
