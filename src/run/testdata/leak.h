// For the programs beside: blocks that the optimiser cannot see through.
// Each program leaks as its comment says; with -DCLEAN it does the same without
// losing anything.
#ifndef LEAK_H
#define LEAK_H

#include <stdlib.h>
#include <string.h>

#ifdef CLEAN
enum { kClean = 1 };
#else
enum { kClean = 0 };
#endif

#ifdef __cplusplus
#define LEAK_C extern "C"
#else
#define LEAK_C
#endif

static inline void *hide(void *block) {
  __asm__ volatile("" : "+r"(block) : : "memory");
  return block;
}

static __attribute__((noinline)) void *make(size_t size) { return hide(malloc(size)); }

// Takes a block and drops it: lost, unless clean.
static __attribute__((noinline)) void drop(void *block) {
  block = hide(block);
  if (kClean) free(block);
}

// Overwrites what calls before left on the stack below, and in registers.
static __attribute__((noinline)) void scrub(void) {
  char room[16384];
  memset(room, 0, sizeof room);
  hide(room);
  __asm__ volatile("" : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
}

#endif
