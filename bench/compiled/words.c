/* Counts words in a hash table: strings, chains, a little of everything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
  char* text;
  long count;
  struct word* next;
};

static struct word* table[1 << 15];

static struct word* look_up(const char* text) {
  unsigned hash = 5381;
  for (const char* at = text; *at; at++) hash = hash * 33 + (unsigned char)*at;
  struct word** place = &table[hash % (1 << 15)];
  for (struct word* word = *place; word; word = word->next) {
    if (strcmp(word->text, text) == 0) return word;
  }
  struct word* word = malloc(sizeof *word);
  word->text = strdup(text);
  word->count = 0;
  word->next = *place;
  *place = word;
  return word;
}

int main(int count, char** arguments) {
  const long times = count > 1 ? atol(arguments[1]) : 1;
  unsigned seed = 3;
  char text[32];
  for (long i = 0; i < times * 6000000; i++) {
    seed = seed * 1664525 + 1013904223;
    unsigned value = (seed >> 12) % 60000;
    int size = 0;
    do text[size++] = (char)('a' + value % 26);
    while (value /= 26);
    text[size] = 0;
    look_up(text)->count++;
  }
  long sum = 0;
  for (int i = 0; i < 1 << 15; i++) {
    while (table[i]) {
      struct word* word = table[i];
      table[i] = word->next;
      sum += word->count;
      free(word->text);
      free(word);
    }
  }
  printf("%ld\n", sum);
  return 0;
}
