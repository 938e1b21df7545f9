// A mail room: takes letters, keeps the newest one for each name, answers
// some. It loses memory in three ways; which lines would you look at?
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBoxes = 8 };

struct letter {
  char *name;
  char *text;
};

static struct letter *boxes[kBoxes];

static struct letter *letter_new(const char *name, const char *text) {
  struct letter *letter = malloc(sizeof *letter);
  letter->name = strdup(name);
  letter->text = strdup(text);
  return letter;
}

static void letter_free(struct letter *letter) {
  free(letter->name);
  free(letter);
}

static unsigned box_of(const char *name) {
  unsigned sum = 0;
  while (*name) sum = sum * 31 + (unsigned char)*name++;
  return sum % kBoxes;
}

static void keep(struct letter *letter) {
  boxes[box_of(letter->name)] = letter;
}

static int answer(const char *name) {
  char *reply = malloc(128);
  struct letter *letter = boxes[box_of(name)];
  if (!letter) return -1;
  snprintf(reply, 128, "Dear %s, thank you for \"%s\".", name, letter->text);
  puts(reply);
  free(reply);
  return 0;
}

static void close_room(void) {
  for (int i = 0; i < kBoxes; i++) {
    if (boxes[i]) letter_free(boxes[i]);
    boxes[i] = NULL;
  }
}

int main(void) {
  keep(letter_new("Ada", "the notes"));
  keep(letter_new("Grace", "the moth"));
  keep(letter_new("Ada", "the engine"));
  answer("Ada");
  answer("Linus");
  close_room();
  return 0;
}
