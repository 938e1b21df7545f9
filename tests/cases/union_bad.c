// CASE: A union's number overwrites its pointer.
// EXPECT: lost 1 block 15 bytes
// CAUSE: overwritten
// GAP(check): place, function - lost in the callee, reported at the call
#include "case.h"

struct Value {
  enum { TEXT, NUMBER } kind;
  union {
    char* text;
    long number;
  } as;
};

struct Value g_value;

static void set_text(void) {
  g_value.kind = TEXT;
  g_value.as.text = malloc(15);  // ALLOC
  g_value.as.text[0] = 't';
}

static void set_number(long number) {
  g_value.kind = NUMBER;
  g_value.as.number = number;  // LOSS g_value.as.text
}

int main(void) {
  set_text();
  touch(g_value.as.text);  // USE
  set_number(opaque(4));
  return g_value.as.number == 4 ? 0 : 1;
}
