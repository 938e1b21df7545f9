// CASE: A hash table on the heap, held by a global, keeps all its entries alive.
// EXPECT(a): forgotten 1 block 64 bytes
// EXPECT(b): forgotten 3 blocks 72 bytes
#include "case.h"

struct Entry {
  struct Entry* next;
  long key;
  long value;
};

struct Entry** g_table;

static void insert(long key, long value) {
  struct Entry* entry = malloc(sizeof *entry);  // ALLOC(b)
  entry->key = key;
  entry->value = value;
  entry->next = g_table[key % 8];
  g_table[key % 8] = entry;
}

static void fill(void) {
  g_table = calloc(8, sizeof *g_table);  // ALLOC(a)
  insert(opaque(1), 10);
  insert(opaque(9), 90);
  insert(opaque(4), 40);
}

int main(void) {
  fill();
  touch(g_table[1]->next);
}
