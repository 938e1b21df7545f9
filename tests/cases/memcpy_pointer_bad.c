// CASE: A pointer that travelled by memcpy is wiped by memset.
// EXPECT: lost 1 block 42 bytes
// CAUSE: overwritten
// GAP(check): place, function - lost in the callee, reported at the call
#include "case.h"

struct Record {
  char tag[8];
  char* text;
};

struct Record g_record;

static void save(void) {
  struct Record record = {"rec", malloc(42)};  // ALLOC
  record.text[0] = 'r';
  memcpy(&g_record, &record, sizeof record);
}

static void wipe(void) {
  memset(&g_record, 0, sizeof g_record);  // LOSS g_record.text
}

int main(void) {
  save();
  touch(g_record.text);  // USE
  wipe();
}
