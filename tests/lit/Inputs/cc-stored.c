// Variables whose value was stored elsewhere, and whether it is still there when they end.
#include <stdlib.h>
#include <string.h>

struct box {
  char* text;
  struct box* other;
};

__attribute__((noinline)) static int look(const char* text) { return *(volatile const char*)text; }
__attribute__((noinline)) static void empty(struct box* box) { box->text = NULL; }

__attribute__((noinline)) static void put(struct box* box, int emptied) {
  char* text = calloc(1, 40);
  box->text = text;
  if (emptied) empty(box);
  look(text);
}

__attribute__((noinline)) static void put_twice(struct box* box, int emptied) {
  char* text = calloc(1, 48);
  box->text = text;
  look(text);
  if (emptied) box->text = NULL;
  look(text);
}

__attribute__((noinline)) static void pair(int kept, struct box* keeper) {
  struct box* one = calloc(1, 56);
  struct box* two = calloc(1, 56);
  one->other = two;
  two->other = one;
  if (kept) keeper->other = one;
  look((char*)two);
}

__attribute__((noinline)) static void move(struct box* box, int replaced) {
  char* text = calloc(1, 64);
  box->text = text;
  box->text = box->text + 8;
  if (replaced) box->text = (char*)box;
  look(text);
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  struct box* box = calloc(1, sizeof *box);
  put(box, strcmp(what, "emptied") == 0);
  free(box->text);
  put_twice(box, strcmp(what, "twice") == 0);
  free(box->text);
  pair(strcmp(what, "pair") != 0, box);
  if (box->other) {
    free(box->other->other);
    free(box->other);
    box->other = NULL;
  }
  move(box, strcmp(what, "moved") == 0);
  if (box->text != (char*)box) free(box->text - 8);
  free(box);
  return 0;
}
