// CASE: A structure with a buffer comes back by value, and one member of it is looked at.
// EXPECT: lost 1 block 30 bytes
// CAUSE: discarded
// GAP(run, -O2): place, function, cause - the callee is inlined, and the result is in no register
// GAP(run, -O0, clang-19): cause - the caller stores the whole result before it looks at it
// GAP(check): cause - the result is followed to the end of the statement, not seen to be dropped
// GAP(cc): place, function, cause - the member of a result that nobody takes is not marked
#include "case.h"

struct Text {
  size_t length;
  char* data;
};

static struct Text make_text(const char* from) {
  struct Text text;
  text.length = strlen(from);
  text.data = malloc(30);  // ALLOC
  strcpy(text.data, from);
  touch(text.data);  // USE
  return text;
}

static size_t measure(const char* from) {
  return make_text(from).length;  // LOSS
}  // LOSS

int main(void) { return measure("something") == (size_t)opaque(9) ? 0 : 1; }
