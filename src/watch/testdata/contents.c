// Blocks of all kinds keep what is in them, whatever happens: resized, aligned,
// cleared, used by several threads, read and written by the kernel, and after
// a fork, where parent and child each have their own. Says what is wrong.
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBlocks = 300, kRounds = 20000 };

static void wrong(const char *what) {
  printf("wrong: %s\n", what);
  fflush(stdout);
  _exit(9);
}

struct block {
  unsigned char *at;
  size_t size;
  unsigned char fill;
};

static void check(const struct block *b) {
  for (size_t i = 0; i < b->size; i += b->size < 512 ? 1 : 97) {
    if (b->at[i] != b->fill) wrong("contents");
  }
  if (b->at != NULL && malloc_usable_size(b->at) < b->size) wrong("usable size");
}

static void *churn(void *argument) {
  unsigned seed = (unsigned)(uintptr_t)argument;
  struct block blocks[kBlocks] = {0};
  for (int round = 0; round < kRounds; ++round) {
    struct block *b = &blocks[rand_r(&seed) % kBlocks];
    check(b);
    size_t size = (size_t)(rand_r(&seed) % 3000);
    if (rand_r(&seed) % 200 == 0) size = (size_t)(rand_r(&seed) % 400000);
    switch (rand_r(&seed) % 6) {
      case 0:
        free(b->at);
        b->at = malloc(size);
        break;
      case 1: {
        free(b->at);
        b->at = calloc(1, size);
        const struct block zero = {b->at, size, 0};
        check(&zero);
        break;
      }
      case 2: {
        struct block kept = *b;
        b->at = realloc(b->at, size + 1);
        if (kept.size > size + 1) kept.size = size + 1;
        kept.at = b->at;
        check(&kept);
        break;
      }
      case 3: {
        const size_t alignment = (size_t)16 << (rand_r(&seed) % 9);
        free(b->at);
        b->at = aligned_alloc(alignment, size);
        if ((uintptr_t)b->at % alignment != 0) wrong("alignment");
        break;
      }
      case 4: {
        void *place = NULL;
        free(b->at);
        if (posix_memalign(&place, 8192, size) != 0 || (uintptr_t)place % 8192 != 0) wrong("posix");
        b->at = place;
        break;
      }
      default:
        free(b->at);
        b->at = NULL;
        size = 0;
        break;
    }
    b->size = b->at == NULL ? 0 : size;
    b->fill = (unsigned char)rand_r(&seed);
    if (b->size != 0) memset(b->at, b->fill, b->size);
  }
  for (int i = 0; i < kBlocks; ++i) {
    check(&blocks[i]);
    free(blocks[i].at);
  }
  return NULL;
}

// The kernel reads from and writes to blocks as to any memory.
static void through_kernel(void) {
  int ends[2];
  if (pipe(ends) != 0) wrong("pipe");
  for (int i = 0; i < 500; ++i) {
    char *from = memset(malloc(1000), i, 1000);
    char *to = malloc(1000);
    if (i % 50 == 0) usleep(3000);
    if (write(ends[1], from, 1000) != 1000 || read(ends[0], to, 1000) != 1000) wrong("kernel");
    if (memcmp(from, to, 1000) != 0) wrong("kernel's bytes");
    free(from);
    free(to);
  }
  close(ends[0]);
  close(ends[1]);
}

static void after_fork(void) {
  static unsigned char *blocks[kBlocks];
  for (int i = 0; i < kBlocks; ++i) blocks[i] = memset(malloc(100 + 13 * i), i, 100);
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      usleep(round * 2000);
      for (int i = 0; i < kBlocks; ++i) {
        if (blocks[i][50] != (unsigned char)(i + round)) _exit(7);  // the parent's write is not ours
        blocks[i][50] = 99;
        if (i % 3 == 0) free(blocks[i]);
        if (i % 3 == 1) blocks[i] = realloc(blocks[i], 5000);
      }
      for (int i = 0; i < 1000; ++i) free(memset(malloc(200), 1, 200));
      exit(blocks[1][50] == 99 ? 5 : 6);
    }
    for (int i = 0; i < kBlocks; ++i) {
      if (blocks[i][50] != (unsigned char)(i + round)) wrong("the child's write");
      blocks[i][50]++;
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 5) wrong("the child");
    for (int i = 0; i < kBlocks; ++i) {
      if (blocks[i][50] != (unsigned char)(i + round + 1)) wrong("the child's late write");
    }
  }
}

int main(void) {
  after_fork();
  through_kernel();
  pthread_t threads[3];
  for (uintptr_t i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, churn, (void *)(i + 1));
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  if (malloc(SIZE_MAX - 100) != NULL || errno != ENOMEM) wrong("too large");
  printf("all well\n");
  return 0;
}
