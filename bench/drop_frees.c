/* Puts leaks into a program that has none: preloaded, it ignores some of the
 * frees, of blocks from some of the allocation sites, and writes down which.
 *
 *   DROP_FREES="seed=1:sites=25:frees=10:out=FILE"
 *
 * takes 25% of the sites and drops 10% of their frees. A site is the innermost
 * SITE_FRAMES return addresses of an allocation. At the end of the program
 * FILE.PID has one line per site that freed anything: leaky or not, frees,
 * dropped blocks and bytes, then "module+offset" for each frame. Only in the
 * program that DROP_PROGRAM names, when it is set: what starts it is spared.
 * Compile with -fno-optimize-sibling-calls: frames are counted.
 *
 * Everything is exact and slow: a table of all live blocks behind one lock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SITE_FRAMES = 6, OWN_FRAMES = 2, SITES = 1 << 15, BLOCKS = 1 << 23 };

struct site {
  uint64_t hash;
  uintptr_t offsets[SITE_FRAMES]; /* in modules that may be gone at the end */
  char names[SITE_FRAMES][32];
  int depth;
  int leaky;
  uint64_t frees;
  uint64_t dropped;
  uint64_t dropped_bytes;
};
struct block {
  uintptr_t address; /* 0: never used, 1: was used */
  uint32_t site;
};

static struct site* sites;
static struct block* blocks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;
static int ready;
static int owner;
static unsigned site_percent = 25, free_percent = 10;
static uint64_t seed = 1, dice = 1;
static char out[4096];

static void* (*next_malloc)(size_t);
static void* (*next_calloc)(size_t, size_t);
static void* (*next_realloc)(void*, size_t);
static int (*next_posix_memalign)(void**, size_t, size_t);
static void* (*next_aligned_alloc)(size_t, size_t);
static void* (*next_memalign)(size_t, size_t);
static void (*next_free)(void*);
static size_t (*next_usable)(void*);

/* dlsym may allocate before it has found anything. */
static char early[65536];
static size_t early_used;
static void* take_early(size_t size) {
  void* block = early + early_used;
  early_used += (size + 15) & ~(size_t)15;
  if (early_used > sizeof early) abort();
  return block;
}
static int is_early(const void* p) {
  return (const char*)p >= early && (const char*)p < early + sizeof early;
}

static void look_up(void) {
  static int looking;
  if (next_usable || looking) return;
  looking = 1;
  next_calloc = dlsym(RTLD_NEXT, "calloc");
  next_malloc = dlsym(RTLD_NEXT, "malloc");
  next_realloc = dlsym(RTLD_NEXT, "realloc");
  next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
  next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
  next_memalign = dlsym(RTLD_NEXT, "memalign");
  next_free = dlsym(RTLD_NEXT, "free");
  next_usable = dlsym(RTLD_NEXT, "malloc_usable_size");
  looking = 0;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}
static unsigned percent(uint64_t hash) { return (unsigned)((hash >> 20) % 100); }

/* The start of the module and the offset: the same for every run. */
static uint64_t stable(void* address) {
  struct dl_find_object object;
  if (_dl_find_object(address, &object) != 0) return (uintptr_t)address;
  return (uintptr_t)address - (uintptr_t)object.dlfo_map_start;
}

static void describe(struct site* site, int frame, void* address) {
  struct dl_find_object object;
  const char* name = "?";
  site->offsets[frame] = (uintptr_t)address;
  if (_dl_find_object((char*)address - 1, &object) == 0) {
    site->offsets[frame] -= object.dlfo_link_map->l_addr;
    const char* path = object.dlfo_link_map->l_name;
    const char* slash = strrchr(path, '/');
    name = path[0] == 0 ? "main" : slash ? slash + 1 : path;
  }
  strncpy(site->names[frame], name, sizeof site->names[frame] - 1);
}

static inline __attribute__((always_inline)) uint32_t site_here(void) {
  void* frames[SITE_FRAMES + OWN_FRAMES];
  int depth = backtrace(frames, SITE_FRAMES + OWN_FRAMES) - OWN_FRAMES;
  if (depth < 0) depth = 0;
  uint64_t hash = seed;
  for (int i = 0; i < depth; i++) hash = mix(hash, stable(frames[i + OWN_FRAMES]));
  for (uint32_t at = hash % SITES;; at = (at + 1) % SITES) {
    struct site* site = &sites[at];
    if (site->hash == 0) {
      site->hash = hash | 1;
      site->depth = depth;
      for (int i = 0; i < depth; i++) describe(site, i, frames[i + OWN_FRAMES]);
      site->leaky = percent(mix(hash, 77)) < site_percent;
    }
    if (site->hash == (hash | 1)) return at;
  }
}

static uint32_t slot_of(uintptr_t address) { return (uint32_t)(mix(3, address) % BLOCKS); }

static __attribute__((noinline)) void* note(void* p) {
  if (!p || !ready || inside) return p;
  inside = 1;
  pthread_mutex_lock(&lock);
  uint32_t at = slot_of((uintptr_t)p);
  while (blocks[at].address > 1) at = (at + 1) % BLOCKS;
  blocks[at].address = (uintptr_t)p;
  blocks[at].site = site_here();
  pthread_mutex_unlock(&lock);
  inside = 0;
  return p;
}

/* Forgets the block; nonzero when its free is to be dropped. */
static int forget(void* p, int may_drop) {
  int drop = 0;
  if (!p || !ready || inside) return 0;
  inside = 1;
  pthread_mutex_lock(&lock);
  for (uint32_t at = slot_of((uintptr_t)p); blocks[at].address != 0; at = (at + 1) % BLOCKS) {
    if (blocks[at].address != (uintptr_t)p) continue;
    struct site* site = &sites[blocks[at].site];
    blocks[at].address = 1;
    site->frees++;
    dice = mix(dice, site->frees);
    if (may_drop && site->leaky && percent(dice) < free_percent) {
      site->dropped++;
      site->dropped_bytes += next_usable(p);
      drop = 1;
    }
    break;
  }
  pthread_mutex_unlock(&lock);
  inside = 0;
  return drop;
}

void* malloc(size_t size) {
  look_up();
  return next_malloc ? note(next_malloc(size)) : take_early(size);
}
void* calloc(size_t count, size_t size) {
  look_up();
  return next_calloc ? note(next_calloc(count, size)) : take_early(count * size);
}
void* realloc(void* old, size_t size) {
  look_up();
  if (is_early(old)) return memcpy(malloc(size), old, size);
  forget(old, 0);
  return note(next_realloc(old, size));
}
int posix_memalign(void** to, size_t alignment, size_t size) {
  look_up();
  int status = next_posix_memalign(to, alignment, size);
  if (status == 0) note(*to);
  return status;
}
void* aligned_alloc(size_t alignment, size_t size) {
  look_up();
  return note(next_aligned_alloc(alignment, size));
}
void* memalign(size_t alignment, size_t size) {
  look_up();
  return note(next_memalign(alignment, size));
}
void free(void* p) {
  if (!p || is_early(p)) return;
  look_up();
  if (!forget(p, 1)) next_free(p);
}

static void write_sites(void) {
  if (!ready || getpid() != owner) return;
  ready = 0;
  char path[sizeof out + 32];
  snprintf(path, sizeof path, "%s.%d", out, owner);
  FILE* file = fopen(path, "w");
  if (!file) return;
  for (int i = 0; i < SITES; i++) {
    struct site* site = &sites[i];
    if (site->frees == 0) continue;
    fprintf(file, "%d %llu %llu %llu", site->leaky, (unsigned long long)site->frees,
            (unsigned long long)site->dropped, (unsigned long long)site->dropped_bytes);
    for (int k = 0; k < site->depth; k++) {
      fprintf(file, " %s+%llx", site->names[k], (unsigned long long)site->offsets[k]);
    }
    fputc('\n', file);
  }
  fclose(file);
}

__attribute__((constructor)) static void start(void) {
  const char* text = getenv("DROP_FREES");
  const char* program = getenv("DROP_PROGRAM");
  if (!text || (program && strcmp(program, program_invocation_short_name) != 0)) return;
  const char* at;
  if ((at = strstr(text, "seed="))) seed = strtoull(at + 5, 0, 10);
  if ((at = strstr(text, "sites="))) site_percent = (unsigned)atoi(at + 6);
  if ((at = strstr(text, "frees="))) free_percent = (unsigned)atoi(at + 6);
  if ((at = strstr(text, "out="))) snprintf(out, sizeof out, "%s", at + 4);
  dice = seed;
  void* frames[4];
  backtrace(frames, 4); /* loads what it needs */
  look_up();
  sites = mmap(0, SITES * sizeof *sites, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  blocks = mmap(0, BLOCKS * sizeof *blocks, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  owner = getpid();
  atexit(write_sites);
  ready = 1;
}
