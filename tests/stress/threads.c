// Threads that allocate, hand blocks to each other, free them and lose them, all at
// once: threads.c SECONDS. What was lost on purpose is counted; at the end the
// runtime must have lost exactly these, no block more and no block less than a few
// that a stale word may hide.
//
// A block names the next one, so that some are only held by others; one that is
// freed takes its reference along, which loses the other.
#include <plumb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kThreads = 64, kBoxes = 256 };

struct Block {
  struct Block* next;
  char text[];
};

static _Atomic(struct Block*) boxes[kBoxes];
static atomic_ulong dropped;
static atomic_bool over;

static uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static struct Block* make(uint64_t* state) {
  const size_t size = sizeof(struct Block) + next_random(state) % 200;
  struct Block* block = malloc(size);
  memset(block, 0, size);
  return block;
}

static void free_all(struct Block* block) {
  while (block != NULL) {
    struct Block* next = block->next;
    free(block);
    block = next;
  }
}
static unsigned long length_of(const struct Block* block) {
  unsigned long length = 0;
  for (; block != NULL; block = block->next) ++length;
  return length;
}

static void* work(void* argument) {
  uint64_t state = 88172645463325252u + 7919 * (uint64_t)(uintptr_t)argument;
  unsigned long lost = 0;
  while (!atomic_load_explicit(&over, memory_order_relaxed)) {
    struct Block* block = make(&state);
    if (next_random(&state) % 4 == 0) block->next = make(&state);
    struct Block* old = atomic_exchange(&boxes[next_random(&state) % kBoxes], block);
    if (next_random(&state) % 1024 == 0) {
      lost += length_of(old);
      old = NULL;
    } else if (old != NULL && old->next != NULL && next_random(&state) % 256 == 0) {
      lost += length_of(old->next);
      free(old);
    } else {
      free_all(old);
    }
  }
  atomic_fetch_add(&dropped, lost);
  return NULL;
}

int main(int count, char** arguments) {
  const int seconds = count > 1 ? atoi(arguments[1]) : 1;
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  struct timespec pause = {0, 100000000};
  for (int i = 0; i < 10 * seconds; ++i) {
    nanosleep(&pause, NULL);
    if (i % 10 == 5) plumb_lost_blocks();  // the world stops and goes on
  }
  atomic_store(&over, true);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  const unsigned long made = atomic_load(&dropped);
  const unsigned long lost = plumb_lost_blocks();
  printf("dropped %lu, lost %lu\n", made, lost);
  for (int i = 0; i < kBoxes; ++i) free_all(boxes[i]);
  if (plumb_runtime() == NULL) return 2;
  return lost <= made && lost + made / 200 + 4 >= made && made > 0 ? 0 : 1;
}
