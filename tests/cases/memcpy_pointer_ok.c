// CASE: A pointer that travelled by memcpy is freed before memset wipes it.
// EXPECT: none
#include "case.h"

struct Record {
  char tag[8];
  char* text;
};

struct Record g_record;

static void save(void) {
  struct Record record = {"rec", malloc(42)};
  record.text[0] = 'r';
  memcpy(&g_record, &record, sizeof record);
}

static void wipe(void) {
  free(g_record.text);
  memset(&g_record, 0, sizeof g_record);
}

int main(void) {
  save();
  touch(g_record.text);
  wipe();
}
