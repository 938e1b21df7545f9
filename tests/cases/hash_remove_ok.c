// CASE: An entry is unlinked from a hash table and freed.
// EXPECT: none
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
  struct Entry* entry = calloc(1, sizeof *entry);
  entry->key = malloc(strlen(key) + 1);
  strcpy(entry->key, key);
  entry->value = value;
  *place = entry;
}

static void drop(struct Entry** place) {
  struct Entry* entry = *place;
  *place = entry->next;
  free(entry->key);
  free(entry);
}

static void clear(void) {
  for (int i = 0; i < 4; i++) {
    while (g_buckets[i]) drop(&g_buckets[i]);
  }
}

int main(void) {
  insert("apple", 1);
  insert("banana", 2);
  insert("cherry", 3);
  drop(find("banana"));
  clear();
}
