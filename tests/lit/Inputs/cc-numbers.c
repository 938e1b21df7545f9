// Numbers that look like references, in blocks that are freed, in copies of structures and on
// the stack of a longjmp; each in a page of its own, if it were an address.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct pair {
  unsigned low, high;
};

static struct pair* volatile place;
static jmp_buf back;

static struct pair number(unsigned i) {
  struct pair made = {i * 65536u, 0x2000 + i % 1024};
  return made;
}

__attribute__((noinline)) static void jump(unsigned i) {
  volatile struct pair kept[4];
  for (unsigned n = 0; n < 4; n++) kept[n].low = number(i).low, kept[n].high = number(i).high;
  longjmp(back, 1);
}

int main(int count, char** words) {
  static struct pair table[64];
  for (unsigned i = 0; i < 400000; i++) {
    place = malloc(sizeof *place);
    *place = number(i);
    table[i % 64] = *place;
    if (i % 64 == 0) memset(table, 0, sizeof table);
    if (i % 8 == 0 && setjmp(back) == 0) jump(i);
    if (count == 1 || i != 7) free(place);
  }
  (void)words;
  place = 0;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  puts(usage.ru_maxrss < 65536 ? "small" : "large");
  fflush(stdout);
  return 0;
}
