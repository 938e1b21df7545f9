/* An allocator that is annotated for memcheck; what is lost is handed out by it, not by
 * malloc. Each way has a clean twin ("keep": freed, or gone with its pool). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

static char arena[1 << 16];
static size_t used;

static void *carve(size_t size) {
  void *block = arena + used;
  used += (size + 31) & ~(size_t)15;
  return block;
}

/* Registers are full here: a request must leave them as they are. */
static double mixed(double a, double b, long c, long d, void *block, size_t size) {
  double e = a * b, f = a - b, g = a / (b + 1);
  long h = c * d, i = c - d, j = c ^ d;
  VALGRIND_MALLOCLIKE_BLOCK(block, size, 0, 0);
  return e + f + g + (double)(h + i + j);
}

static void *take(size_t size) {
  void *block = carve(size);
  VALGRIND_MALLOCLIKE_BLOCK(block, size, 0, 0);
  return block;
}

static void give(void *block) { VALGRIND_FREELIKE_BLOCK(block, 0); }

static void *volatile held;

static void lose_like(int keep) {
  held = take(101);
  if (keep) give(held);
  held = 0;
}

static void lose_pooled(int keep) {
  char *pool = carve(64);
  VALGRIND_CREATE_MEMPOOL(pool, 0, 0);
  void *block = carve(102);
  VALGRIND_MEMPOOL_ALLOC(pool, block, 102);
  held = block;
  if (keep) VALGRIND_DESTROY_MEMPOOL(pool);
  held = 0;
}

static void lose_changed(int keep) {
  char *pool = carve(64), *other = carve(64);
  VALGRIND_CREATE_MEMPOOL(pool, 0, 0);
  void *block = carve(16), *moved = carve(103);
  VALGRIND_MEMPOOL_ALLOC(pool, block, 16);
  VALGRIND_MEMPOOL_CHANGE(pool, block, moved, 103);
  VALGRIND_MOVE_MEMPOOL(pool, other);
  held = moved;
  if (keep) VALGRIND_MEMPOOL_FREE(other, moved);
  held = 0;
}

static void lose_trimmed(int keep) {
  char *pool = carve(64);
  VALGRIND_CREATE_MEMPOOL(pool, 0, 0);
  char *first = carve(16), *second = carve(104);
  VALGRIND_MEMPOOL_ALLOC(pool, first, 16);
  VALGRIND_MEMPOOL_ALLOC(pool, second, 104);
  held = second;
  VALGRIND_MEMPOOL_TRIM(pool, keep ? (void *)carve(16) : (void *)second, keep ? 16 : 104);
  held = 0;
}

/* The pieces of such a pool are no blocks: what is in them is. */
static void lose_in_piece(int keep) {
  char *pool = carve(64);
  VALGRIND_CREATE_MEMPOOL_EXT(pool, 0, 0, VALGRIND_MEMPOOL_METAPOOL | VALGRIND_MEMPOOL_AUTO_FREE);
  char *piece = carve(1024);
  VALGRIND_MEMPOOL_ALLOC(pool, piece, 1024);
  VALGRIND_MALLOCLIKE_BLOCK(piece + 16, 105, 0, 0);
  held = piece + 16;
  if (keep) VALGRIND_MEMPOOL_FREE(pool, piece);
  held = 0;
}

/* malloc's block as a whole is malloc's already. */
static void lose_whole(int keep) {
  char *block = malloc(106);
  VALGRIND_MALLOCLIKE_BLOCK(block, 106, 0, 0);
  held = block;
  if (keep) {
    VALGRIND_FREELIKE_BLOCK(block, 0);
    free(block);
  }
  held = 0;
}

int main(int argc, char **argv) {
  const int keep = argc > 1 && strcmp(argv[1], "keep") == 0;
  void *block = carve(107);
  printf("%.3f\n", mixed(argc + 1.5, argc + 2.25, argc + 3, argc + 4, block, 107));
  held = block;
  if (keep) give(block);
  held = 0;
  lose_like(keep);
  lose_pooled(keep);
  lose_changed(keep);
  lose_trimmed(keep);
  lose_in_piece(keep);
  lose_whole(keep);
  return 0;
}
