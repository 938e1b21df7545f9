// CASE: Draining a queue frees its nodes and loses what they carried.
// EXPECT: lost 3 blocks 60 bytes
// CAUSE: holder-freed
// GAP(check): found - nodes of a list are not told apart
#include "case.h"

struct Item {
  struct Item* next;
  char* payload;
};

struct Item* g_first;
struct Item** g_last = &g_first;

static void push(long number) {
  struct Item* item = calloc(1, sizeof *item);
  item->payload = malloc(20);  // ALLOC
  item->payload[0] = (char)('0' + number);
  *g_last = item;
  g_last = &item->next;
}

static void drain(void) {
  while (g_first) {
    struct Item* item = g_first;
    g_first = item->next;
    touch(item->payload);  // USE
    free(item);            // LOSS item->payload
  }
  g_last = &g_first;
}

int main(void) {
  for (long i = 0; i < 3; i++) push(opaque(i));
  drain();
}
