// Two sites that lose: the name of a box that is freed, and a note.
#include <stdlib.h>

struct box {
  char* name;
  long more;
};
char* volatile note;

__attribute__((noinline)) static char* make_name(void) { return malloc(30); }
__attribute__((noinline)) static char* make_note(void) { return malloc(40); }

__attribute__((noinline)) static void touch(char* name) { name[0] = 'n'; }

__attribute__((noinline)) static void close_box(struct box* box, int clean) {
  if (clean) free(box->name);
  free(box);
}

int main(int argc, char** argv) {
  const int clean = argc > 1;
  struct box* box = calloc(1, sizeof *box);
  box->name = make_name();
  touch(box->name);
  close_box(box, clean);
  note = make_note();
  if (clean) free(note);
  note = NULL;
  return argv == NULL;
}
