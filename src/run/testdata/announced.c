// An allocator of its own that says what it does (plumb.h), in memory from malloc, from
// mmap or in an array. Lost are: 40 bytes of a local variable, a node of 16 bytes that is
// taken out of a list, with its name of 4, and a name of 6 that is overwritten.
#include <stdio.h>
#include <sys/mman.h>

#include "leak.h"
#include "plumb.h"

enum { kPoolSize = 8192 };

struct Pool {
  char *memory;
  char *next;
};
struct Node {
  struct Node *next;
  char *name;
};

static char array[kPoolSize];
static struct Pool *pool;
static struct Node *head;

static __attribute__((noinline)) struct Pool *pool_new(const char *where) {
  struct Pool *fresh = malloc(sizeof *fresh);
  fresh->memory = where[0] == 'a'   ? array
                  : where[0] == 'h' ? malloc(kPoolSize)
                                    : mmap(0, kPoolSize, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  fresh->next = fresh->memory;
  PLUMB_POOL_CREATE(fresh);
  return fresh;
}

static __attribute__((noinline)) void *pool_take(size_t size) {
  char *block = pool->next;
  pool->next += (size + 31) & ~(size_t)15;
  PLUMB_POOL_ALLOC(pool, block, size);
  return block;
}

static __attribute__((noinline)) void pool_give(void *block) { PLUMB_POOL_FREE(pool, block); }

static __attribute__((noinline)) void push(const char *name) {
  struct Node *node = pool_take(sizeof *node);
  node->name = pool_take(strlen(name) + 1);
  strcpy(node->name, name);
  node->next = head;
  head = node;
}

static __attribute__((noinline)) void lose_local(void) {
  char *block = pool_take(40);
  strcpy(block, "local");
  puts(block);
  if (kClean) pool_give(block);
}

static __attribute__((noinline)) void unlink_second(void) {
  if (kClean) pool_give(head->next->name);
  if (kClean) pool_give(head->next);
  head->next = head->next->next;
}

static __attribute__((noinline)) void overwrite_name(void) {
  if (kClean) pool_give(head->name);
  head->name = 0;
}

int main(int count, char **arguments) {
  pool = pool_new(arguments[1]);
  pool_take(8);  // the pool itself refers to its first block
  push("one");
  push("two");
  push("three");
  lose_local();
  unlink_second();
  overwrite_name();
  puts(head->next->name);
  // A pool that goes as a whole takes its blocks along.
  if (count > 2) {
    PLUMB_POOL_DESTROY(pool);
    if (arguments[1][0] == 'h') free(pool->memory);
    free(pool);
    head = 0;
    pool = 0;
  }
  scrub();
  return 0;
}
