/* Preloaded into a server: a small leak, and two things that only look like one.
 *
 *   - every 10,000th answer (write) a block is kept and never
 *     looked at again: forget_answer;
 *   - a table is filled at the start and not used: fill_table;
 *   - a cache is filled at the start, and each of its entries is used every half
 *     minute or so: fill_cache.
 *
 * Only in the program that SOAK_PROGRAM names: what starts it is spared.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { kEvery = 10000, kTable = 4000, kCache = 2000, kBytes = 2000 };

static char* volatile table[kTable];
static char* volatile cache[kCache];
struct answer {
  struct answer* next;
  char text[kBytes];
};
static _Atomic(struct answer*) kept;
static atomic_ulong answers;

__attribute__((noinline)) void forget_answer(void) {
  struct answer* answer = malloc(sizeof *answer);
  memset(answer->text, 1, sizeof answer->text);
  answer->next = atomic_load(&kept);
  atomic_store(&kept, answer);
}
__attribute__((noinline)) void fill_table(void) {
  for (int i = 0; i < kTable; ++i) table[i] = memset(malloc(kBytes), 2, kBytes);
}
__attribute__((noinline)) void fill_cache(void) {
  for (int i = 0; i < kCache; ++i) cache[i] = memset(malloc(kBytes), 3, kBytes);
}

/* An entry now and then, in turn: all of them in half a minute. */
static void use_cache(void) {
  static double used;
  static int next;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double seconds = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
  if (used == 0) used = seconds;
  for (; used < seconds; used += 30.0 / kCache) {
    cache[next][7]++;
    next = (next + 1) % kCache;
  }
}

static void answered(void) {
  const unsigned long count = atomic_fetch_add(&answers, 1);
  if (cache[0] == NULL) return;
  if (count % kEvery == 0) forget_answer();
  if (count % 64 == 0) use_cache();
}

ssize_t write(int file, const void* from, size_t size) {
  static ssize_t (*next)(int, const void*, size_t);
  if (next == NULL) next = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  answered();
  return next(file, from, size);
}

__attribute__((constructor)) static void start(void) {
  const char* program = getenv("SOAK_PROGRAM");
  if (program == NULL || strcmp(program, program_invocation_short_name) != 0) return;
  fill_table();
  fill_cache();
}
