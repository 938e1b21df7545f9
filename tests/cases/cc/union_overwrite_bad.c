// CASE: A number is written over the pointer in a union.
// EXPECT: lost 1 block 26 bytes
// CAUSE: overwritten
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
  value->kind = 2;
  value->as.number = number;  // LOSS value->as.text | value->as.number
}

int main(void) {
  slot.kind = 1;
  slot.as.text = malloc(26);  // ALLOC
  touch(slot.as.text);        // USE
  set_number(&slot, opaque(7));
}
