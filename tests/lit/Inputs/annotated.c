// A program with an allocator of its own, annotated. Each argument loses, keeps or
// asks something.
#include <plumb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Pool {
  char* memory;
  size_t used;
};

static struct Pool* new_pool(void) {
  struct Pool* pool = malloc(sizeof *pool);
  pool->memory = malloc(4096);
  pool->used = 16;  // the first word is the pool's own: it refers to no block
  PLUMB_POOL_CREATE(pool);
  return pool;
}
static void* take(struct Pool* pool, size_t size) {
  void* block = pool->memory + pool->used;
  pool->used += (size + 15) / 16 * 16;
  PLUMB_POOL_ALLOC(pool, block, size);
  return block;
}
static void delete_pool(struct Pool* pool) {
  PLUMB_POOL_DESTROY(pool);
  free(pool->memory);
  free(pool);
}

struct Pool* the_pool;
void** kept;
void* hidden;

__attribute__((noinline)) static void lose_from_pool(void) {
  char* first = take(the_pool, 24);  // ALLOC
  strcpy(first, "first");
  puts(first);
  first = take(the_pool, 40);  // LOSS
  kept = malloc(sizeof *kept);
  *kept = first;
}
__attribute__((noinline)) static void* lose(size_t size) {
  char* volatile block = malloc(size);
  block[0] = 1;
  block = NULL;
  return block;
}
// Below the frames of what came before: nothing of it is looked at.
__attribute__((noinline)) static void ask(const char* when) {
  plumb_lost lost = plumb_count_lost(PLUMB_LOST_KEEP);
  printf("%s: %zu blocks, %zu bytes\n", when, lost.blocks, lost.bytes);
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  the_pool = new_pool();
  if (strcmp(what, "pool-lost") == 0) {
    lose_from_pool();
    return 0;
  }
  if (strcmp(what, "pool-destroyed") == 0) {
    lose_from_pool();
    delete_pool(the_pool);
    free(kept);
  } else if (strcmp(what, "ignore") == 0) {
    void** block = malloc(72);
    *block = malloc(73);
    PLUMB_IGNORE((char*)block + 8);
    block = NULL;
    PLUMB_IGNORE_BEGIN();
    lose(74);
    PLUMB_IGNORE_END();
  } else if (strcmp(what, "no-ignore") == 0) {
    lose(74);
  } else if (strcmp(what, "ask") == 0) {
    ask("before");
    lose(100);
    ask("after one");
    lose(30);
    ask("after two");
    plumb_forget_lost();
    ask("told");
    lose(7);
    ask("one more");
    plumb_lost excused = plumb_excuse_lost();
    printf("excused: %zu blocks\n", excused.blocks);
  } else if (strcmp(what, "report") == 0) {
    lose(55);
    PLUMB_REPORT_NOW();
    puts("goes on");
    fflush(stdout);
    _Exit(3);
  } else if (strcmp(what, "root") == 0 || strcmp(what, "no-root") == 0) {
    // A page that is reachable by nobody, with the only reference in it.
    void** page = malloc(256);
    page[3] = malloc(81);
    if (what[0] == 'r') PLUMB_ROOT(page, 256);
    hidden = (void*)~(size_t)page;
    page = NULL;
  }
  return 0;
}
