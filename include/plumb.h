/* plumb.h: what a program can tell Plumb about its memory, and ask.
 *
 * For C and C++; nothing to link. Under `plumb run`, and in programs built by
 * `plumb cc`, the runtime answers. Everywhere else each of these is a load and a
 * test, and the questions are answered with 0. With PLUMB_DISABLED defined, or on
 * other systems than Linux on x86-64, nothing is left of them.
 *
 * The runtime is found by one weak symbol that the dynamic linker fills in. It is
 * asked for through the global offset table in any case (hence the assembly), so
 * that it also works in programs that were linked at fixed addresses and without
 * a word about Plumb on the linker's command line.
 *
 * docs/annotations.md has examples.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef PLUMB_H
#define PLUMB_H

#include <stddef.h>

/* Blocks that no chain of references reaches, with what hangs on them. */
typedef struct plumb_lost {
  size_t blocks;
  size_t bytes;
} plumb_lost;

/* What becomes of the blocks that a question counted. */
enum plumb_lost_then {
  PLUMB_LOST_KEEP = 0,   /* count them again next time */
  PLUMB_LOST_TOLD = 1,   /* not next time; the final report still has them */
  PLUMB_LOST_IGNORE = 2, /* neither: as if each had been given to PLUMB_IGNORE */
  /* To be added by listeners of test frameworks: what lies on the stack between the
   * function that calls them before and after a test, and themselves, is no
   * reference. */
  PLUMB_LOST_BEFORE_TEST = 4,
  PLUMB_LOST_AFTER_TEST = 8,
};

/* What a runtime can do. Only grows: a function is there when `size` covers it. */
struct plumb_interface {
  size_t size;
  void (*allocated)(const void* pool, const void* block, size_t size);
  void (*freed)(const void* pool, const void* block);
  void (*pool_created)(const void* pool);
  void (*pool_destroyed)(const void* pool);
  void (*ignore)(const void* block);
  void (*ignoring)(int change); /* +1, -1: of the calling thread */
  void (*root)(const void* begin, size_t size, int change);
  void (*report)(void);
  plumb_lost (*lost)(int then); /* enum plumb_lost_then */
};

#if !defined(PLUMB_DISABLED) && defined(__linux__) && defined(__x86_64__) && \
    !defined(__ILP32__) && (defined(__GNUC__) || defined(__clang__))

#ifdef __cplusplus
#define PLUMB_FROM_INTEGER(type, value) reinterpret_cast<type>(value)
#else
#define PLUMB_FROM_INTEGER(type, value) ((type)(value))
#endif

/* Null when nobody is there. */
__attribute__((unused)) static inline const struct plumb_interface* plumb_runtime(void) {
  unsigned long found;
  __asm__(".weak plumb_interface_1\n\tmovq plumb_interface_1@GOTPCREL(%%rip), %0" : "=r"(found));
  return PLUMB_FROM_INTEGER(const struct plumb_interface*, found);
}

#define PLUMB_CALL_(function, arguments)                                              \
  do {                                                                                \
    const struct plumb_interface* plumb_runtime_ = plumb_runtime();                   \
    if (__builtin_expect(plumb_runtime_ != 0, 0)) plumb_runtime_->function arguments; \
  } while (0)

#else

__attribute__((unused)) static inline const struct plumb_interface* plumb_runtime(void) {
  return 0;
}
#define PLUMB_CALL_(function, arguments) \
  do {                                   \
  } while (0)

#endif

/* An allocator of your own hands out `size` bytes at `block`, or takes them back.
 * The memory may come from malloc, mmap or an array; it must not be a block of
 * malloc as a whole. */
#define PLUMB_ALLOC(block, size) PLUMB_CALL_(allocated, (0, (block), (size)))
#define PLUMB_FREE(block) PLUMB_CALL_(freed, (0, (block)))

/* The same for blocks that go together: `pool` is any address that is the pool's
 * own. When it is destroyed, what is still allocated in it is freed. */
#define PLUMB_POOL_CREATE(pool) PLUMB_CALL_(pool_created, (pool))
#define PLUMB_POOL_ALLOC(pool, block, size) PLUMB_CALL_(allocated, ((pool), (block), (size)))
#define PLUMB_POOL_FREE(pool, block) PLUMB_CALL_(freed, ((pool), (block)))
#define PLUMB_POOL_DESTROY(pool) PLUMB_CALL_(pool_destroyed, (pool))

/* This block is kept on purpose: it and all that it holds is no leak. Any address
 * in the block will do. */
#define PLUMB_IGNORE(block) PLUMB_CALL_(ignore, (block))
/* The same for all that this thread allocates between the two; they nest. */
#define PLUMB_IGNORE_BEGIN() PLUMB_CALL_(ignoring, (1))
#define PLUMB_IGNORE_END() PLUMB_CALL_(ignoring, (-1))

/* References in these bytes count, whatever becomes of the bytes themselves. */
#define PLUMB_ROOT(begin, size) PLUMB_CALL_(root, ((begin), (size), 1))
#define PLUMB_ROOT_END(begin, size) PLUMB_CALL_(root, ((begin), (size), -1))

/* Writes a report of what is lost now; the program goes on. */
#define PLUMB_REPORT_NOW() PLUMB_CALL_(report, ())

/* Looks now, with the world stopped: how much is lost that was not told before. */
__attribute__((unused)) static inline plumb_lost plumb_count_lost(int then) {
  const struct plumb_interface* runtime = plumb_runtime();
  plumb_lost none = {0, 0};
  return runtime != 0 ? runtime->lost(then) : none;
}
__attribute__((unused)) static inline size_t plumb_lost_blocks(void) {
  return plumb_count_lost(PLUMB_LOST_KEEP).blocks;
}
__attribute__((unused)) static inline size_t plumb_lost_bytes(void) {
  return plumb_count_lost(PLUMB_LOST_KEEP).bytes;
}
/* What is lost by now is known: later counts begin from here. */
__attribute__((unused)) static inline void plumb_forget_lost(void) {
  (void)plumb_count_lost(PLUMB_LOST_TOLD);
}
/* What is lost by now was to be expected: no report has it. Returns how much. */
__attribute__((unused)) static inline plumb_lost plumb_excuse_lost(void) {
  return plumb_count_lost(PLUMB_LOST_IGNORE);
}

#endif /* PLUMB_H */
