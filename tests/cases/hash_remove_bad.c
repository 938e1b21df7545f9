// CASE: An entry is unlinked from a hash table and not freed.
// EXPECT: lost 1 block 24 bytes, indirect 1 block 7 bytes
// CAUSE: overwritten
// GAP(check): found - elements of a table are not told apart
#include "case.h"

struct Entry {
  struct Entry* next;
  char* key;
  long value;
};

struct Entry* g_buckets[4];

static struct Entry** find(const char* key) {
  struct Entry** place = &g_buckets[(unsigned char)key[0] % 4];
  while (*place && strcmp((*place)->key, key) != 0) place = &(*place)->next;
  return place;
}

static void insert(const char* key, long value) {
  struct Entry** place = find(key);
  struct Entry* entry = calloc(1, sizeof *entry);  // ALLOC
  entry->key = malloc(strlen(key) + 1);            // ALLOC
  strcpy(entry->key, key);
  entry->value = value;
  *place = entry;
}

static void erase(const char* key) {
  struct Entry** place = find(key);  // USE
  *place = (*place)->next;           // USE; LOSS *place
}

static void clear(void) {
  for (int i = 0; i < 4; i++) {
    while (g_buckets[i]) {
      struct Entry* entry = g_buckets[i];
      g_buckets[i] = entry->next;
      free(entry->key);
      free(entry);
    }
  }
}

int main(void) {
  insert("apple", 1);
  insert("banana", 2);
  insert("cherry", 3);
  erase("banana");
  clear();
}
