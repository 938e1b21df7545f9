// CASE: A union's pointer is freed before its number is set.
// EXPECT: none
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
  g_value.as.text = malloc(15);
  g_value.as.text[0] = 't';
}

static void set_number(long number) {
  if (g_value.kind == TEXT) free(g_value.as.text);
  g_value.kind = NUMBER;
  g_value.as.number = number;
}

int main(void) {
  set_text();
  touch(g_value.as.text);
  set_number(opaque(4));
  return g_value.as.number == 4 ? 0 : 1;
}
