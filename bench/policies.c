/* What sampling of accesses costs in truth: preloaded into a program that was built
 * with -fplumb=sampled, it traces every access and keeps, beside the true time of each
 * block's last access, the time that adaptive bursty tracing would have seen at each of
 * several rates. All policies see the same execution.
 *
 *   POLICIES="drop=10:at=N:out=FILE"
 *
 * drops 10% of the frees; after N heap accesses (or at the end) it writes what the
 * predicates say of every live block. Time is heap accesses.
 *
 * FILE has one line per live block: site, dropped or not, birth, then the last access
 * as full tracing and each rate saw it (0: never).
 *
 * The heap is one range, a granule of 16 bytes knows its block. Not for threads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RATES = 3, BURST = 10, DECREASE = 10, CLASSES = 48, CHECKS = 1 << 16 };
static const uint64_t least_of[RATES] = {100, 1000, 10000};
static const size_t heap_size = (size_t)8 << 30;

struct block {
  uint64_t address, size;
  uint64_t birth;
  uint64_t last[RATES + 1];
  uint32_t site;
  uint8_t alive, dropped;
};
struct check {
  uint64_t place;
  uint64_t left[RATES];
  uint64_t rate[RATES];
};

static char* heap;
static size_t heap_used;
static uint32_t* owner; /* of each granule */
static struct block* blocks;
static uint32_t blocks_used = 1;
static uint32_t unused; /* linked by birth */
static void* bins[CLASSES];
static struct check checks[CHECKS];
static uint64_t burst_left[RATES];
static uint64_t now, stop_at = UINT64_MAX, dice = 88172645463325252u;
static unsigned drop_percent;
static char out[4096];
static int done;

static uint64_t draw(void) {
  dice ^= dice << 13;
  dice ^= dice >> 7;
  dice ^= dice << 17;
  return dice;
}

/* --- the heap: sizes by class, in quarters of a power of two */

static int class_of(size_t size, size_t* rounded) {
  size_t step = 16;
  int number = 0;
  size_t limit = 64;
  for (size_t at = 16;; at += step, ++number) {
    if (at > limit) {
      step *= 2;
      limit *= 2;
      at = limit - limit / 2 + step;
    }
    if (size <= at || number == CLASSES - 1) {
      *rounded = size <= at ? at : (size + 4095) & ~(size_t)4095;
      return number;
    }
  }
}

static void get_heap(void) {
  if (heap != NULL) return;
  heap = mmap(NULL, heap_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
  owner = mmap(NULL, heap_size / 4, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  blocks = mmap(NULL, (size_t)16 << 30, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (heap == MAP_FAILED || owner == MAP_FAILED || blocks == MAP_FAILED) _exit(99);
}

static uint32_t block_at(const void* address) {
  const size_t offset = (size_t)((const char*)address - heap);
  return heap != NULL && offset < heap_used ? owner[offset / 16] : 0;
}

static void* take(size_t size, void* caller) {
  get_heap();
  size_t rounded = 0;
  const int bin = class_of(size ? size : 1, &rounded);
  char* place = bin < CLASSES - 1 ? bins[bin] : NULL;
  if (place != NULL) {
    memcpy(&bins[bin], place, sizeof bins[bin]);
  } else {
    if (heap_used + rounded > heap_size) return NULL;
    place = heap + heap_used;
    heap_used += rounded;
  }
  uint32_t index = unused;
  if (index != 0)
    unused = (uint32_t)blocks[index].birth;
  else
    index = blocks_used++;
  blocks[index] =
      (struct block){(uint64_t)place, rounded, now, {0}, (uint32_t)(uintptr_t)caller, 1, 0};
  for (size_t i = 0; i < rounded; i += 16) owner[(size_t)(place - heap + i) / 16] = index;
  return place;
}

static void give(void* address) {
  const uint32_t index = block_at(address);
  if (index == 0 || !blocks[index].alive) return;
  struct block* block = &blocks[index];
  if (!done && drop_percent != 0 && draw() % 100 < drop_percent) {
    block->dropped = 1;
    return;
  }
  block->alive = 0;
  size_t rounded = 0;
  const int bin = class_of(block->size, &rounded);
  for (size_t i = 0; i < block->size; i += 16) owner[((char*)block->address - heap + i) / 16] = 0;
  block->birth = unused;
  unused = index;
  if (bin == CLASSES - 1) return;
  memcpy((void*)block->address, &bins[bin], sizeof bins[bin]);
  bins[bin] = (void*)block->address;
}

void* malloc(size_t size) { return take(size, __builtin_return_address(0)); }
void free(void* block) {
  if (block != NULL) give(block);
}
void* calloc(size_t count, size_t size) {
  void* block = take(count * size, __builtin_return_address(0));
  return block != NULL ? memset(block, 0, count * size) : NULL;
}
void* realloc(void* old, size_t size) {
  void* block = take(size, __builtin_return_address(0));
  const uint32_t index = block_at(old);
  if (block != NULL && index != 0) {
    memcpy(block, old, blocks[index].size < size ? blocks[index].size : size);
    blocks[index].alive = 0; /* moved: not a free that can be dropped */
  }
  return block;
}
void* aligned_alloc(size_t alignment, size_t size) {
  char* block = take(size + alignment, __builtin_return_address(0));
  return block == NULL ? NULL : (void*)(((uintptr_t)block + alignment - 1) & ~(alignment - 1));
}
void* memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
int posix_memalign(void** to, size_t alignment, size_t size) {
  *to = aligned_alloc(alignment, size);
  return *to == NULL ? ENOMEM : 0;
}

/* --- the tracing, as runtime/watch/bursts.cc has it, for every rate at once */

static void pass(uint64_t place) {
  uint32_t slot = (uint32_t)((place * 0x9e3779b97f4a7c15u) >> 48) % CHECKS;
  while (checks[slot].place != 0 && checks[slot].place != place) slot = (slot + 1) % CHECKS;
  struct check* check = &checks[slot];
  check->place = place;
  for (int r = 0; r < RATES; ++r) {
    if (burst_left[r] > 0) {
      --burst_left[r];
      continue;
    }
    if (check->left[r] > 0) {
      --check->left[r];
      continue;
    }
    if (check->rate[r] == 0) check->rate[r] = 1;
    check->rate[r] *= DECREASE;
    if (check->rate[r] > least_of[r]) check->rate[r] = least_of[r];
    const uint64_t mean = (check->rate[r] - 1) * BURST;
    check->left[r] = mean / 2 + draw() % (mean + 1);
    burst_left[r] = BURST;
  }
}

static void write_all(void) {
  if (done) return;
  done = 1;
  FILE* file = out[0] != 0 ? fopen(out, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "now %llu\n", (unsigned long long)now);
  for (uint32_t i = 1; i < blocks_used; ++i) {
    const struct block* block = &blocks[i];
    if (!block->alive) continue;
    fprintf(file, "%x %d %llu", block->site, block->dropped, (unsigned long long)block->birth);
    for (int r = 0; r <= RATES; ++r) fprintf(file, " %llu", (unsigned long long)block->last[r]);
    fputc('\n', file);
  }
  fclose(file);
}

int __plumb_burst_begins(int* left, unsigned char* level) {
  (void)level;
  *left = 0;
  pass((uint64_t)left);
  return 1;
}
int __plumb_burst_goes_on(void) {
  pass((uint64_t)__builtin_return_address(0));
  return 1;
}
/* The caller keeps its registers only for some. */
__attribute__((noinline, used)) void policies_touch(const void* address) {
  const uint32_t index = block_at(address);
  if (index == 0) return;
  struct block* block = &blocks[index];
  ++now;
  block->last[0] = now;
  for (int r = 0; r < RATES; ++r) {
    if (burst_left[r] > 0) block->last[r + 1] = now;
  }
  if (now == stop_at) write_all();
}
__attribute__((preserve_most)) void __plumb_touch(const void* address) { policies_touch(address); }

__attribute__((constructor)) static void start(void) {
  const char* text = getenv("POLICIES");
  if (text == NULL) return;
  const char* at;
  if ((at = strstr(text, "drop="))) drop_percent = (unsigned)atoi(at + 5);
  if ((at = strstr(text, "at="))) stop_at = strtoull(at + 3, NULL, 10);
  if ((at = strstr(text, "out="))) snprintf(out, sizeof out, "%s", at + 4);
  atexit(write_all);
}
