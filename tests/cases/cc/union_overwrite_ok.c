// CASE: The pointer in the union is freed first.
// EXPECT: none
#include "../case.h"

struct value {
  int kind;
  union {
    char* text;
    long number;
  } as;
};
struct value slot;

static void set_number(struct value* value, long number) {
  if (value->kind == 1) free(value->as.text);
  value->kind = 2;
  value->as.number = number;
}

int main(void) {
  slot.kind = 1;
  slot.as.text = malloc(26);
  touch(slot.as.text);
  set_number(&slot, opaque(7));
}
