// All of the time goes into loops in loops of a function that is called once. With an
// argument it also remembers blocks: a long loop fills each, and then it is put into a
// list; nobody looks at one again.
#include "../../../src/watch/testdata/steps.h"

struct request {
  struct request *next;
  unsigned text[2000];
};
static struct request *done;

static __attribute__((noinline)) void remember(unsigned seed) {
  struct request *request = malloc(sizeof *request);
  for (unsigned i = 0; i < 2000; ++i) request->text[i] = (seed ^= seed << 5) + i;
  request->next = done;
  done = request;
}

static __attribute__((noinline)) unsigned grind(unsigned *cells, unsigned rounds) {
  unsigned sum = 1;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned i = 0; i < 100000; ++i) {
      unsigned at = i % 64;
      for (unsigned k = 0; k < 100; ++k) {
        at = (at * 5 + cells[(at + k) % 64]) % 64;
        cells[at] += sum + k;
      }
      sum ^= cells[at];
    }
  }
  return sum;
}

int main(int count, char **arguments) {
  unsigned *cells = calloc(64, sizeof *cells);
  for (int step = 0; count > 1 && step < 80; ++step) {
    for (unsigned i = 0; i < 20; ++i) remember(i + 1);
    end_step(0.006);
  }
  if (count == 1) printf("%u\n", grind(cells, 20));
  return 0;
}
