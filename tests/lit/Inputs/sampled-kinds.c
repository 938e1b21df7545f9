// Loops in loops, computed goto, recursion, variables in memory, several loops in
// one function, threads: prints sums that do not depend on who watches.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next;
  uint64_t value;
};

static __attribute__((noinline)) uint64_t mix(uint64_t a, uint64_t b) {
  return (a ^ b) * 0x9e3779b97f4a7c15u + (a >> 31);
}

static __attribute__((noinline)) struct node *make(struct node *next, uint64_t value) {
  struct node *node = malloc(sizeof *node);
  node->next = next;
  node->value = value;
  return node;
}

// Three outermost loops, one of them with another inside; variables by address.
static __attribute__((noinline)) uint64_t lists(unsigned n) {
  struct node *head = NULL;
  uint64_t buffer[8] = {1, 2, 3};
  for (unsigned i = 0; i < n; ++i) {
    head = make(head, mix(i, buffer[i % 8]));
    buffer[(i + 3) % 8] += head->value;
  }
  uint64_t sum = 0;
  for (unsigned round = 0; round < 3; ++round) {
    for (struct node *at = head; at != NULL; at = at->next) {
      at->value = mix(at->value, sum);
      sum += at->value ^ buffer[at->value % 8];
    }
  }
  while (head != NULL) {
    struct node *next = head->next;
    sum = mix(sum, head->value);
    free(head);
    head = next;
  }
  return sum;
}

// An interpreter by labels.
static __attribute__((noinline)) uint64_t interpret(const unsigned char *code, uint64_t *cells) {
  static const void *const places[] = {&&stop, &&add, &&swap, &&loop, &&call};
  uint64_t count = 0;
  const unsigned char *at = code;
  goto *places[*at];
add:
  cells[at[1]] += cells[at[2]] + 1;
  at += 3;
  ++count;
  goto *places[*at];
swap: {
  const uint64_t kept = cells[at[1]];
  cells[at[1]] = cells[at[2]];
  cells[at[2]] = kept;
  at += 3;
  ++count;
  goto *places[*at];
}
call:
  cells[at[1]] = mix(cells[at[1]], cells[at[2]]);
  at += 3;
  ++count;
  goto *places[*at];
loop:
  if (cells[at[1]]-- != 0) {
    at = code;
  } else {
    at += 2;
  }
  ++count;
  goto *places[*at];
stop:
  return count;
}

static __attribute__((noinline)) uint64_t tree(uint64_t *cells, unsigned depth) {
  if (depth == 0) return cells[0]++;
  uint64_t sum = 0;
  for (unsigned i = 0; i < 3; ++i) sum = mix(sum, tree(cells, depth - 1));
  return sum + cells[depth % 8];
}

// Loops in loops in loops that call nothing, left from within.
static __attribute__((noinline)) uint64_t grid(uint64_t *cells, unsigned n) {
  uint64_t sum = 1;
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = 0; j < n; ++j) {
      uint64_t row = cells[(i + j) % 8];
      for (unsigned k = 0; k < 40; ++k) {
        row = row * 31 + cells[k % 8];
        if (row % 97 == 3) goto next;
        if (row % 1009 == 7) return sum + row;
        cells[(k + row) % 8] ^= row >> 9;
      }
      sum += row;
    }
  next:
    sum ^= cells[i % 8]++;
  }
  return sum;
}

// A loop with two ways in.
static __attribute__((noinline)) uint64_t two_doors(uint64_t *cells, unsigned n) {
  uint64_t sum = 0;
  unsigned i = 0;
  if (cells[n % 8] & 1) goto middle;
top:
  sum = mix(sum, cells[i % 8]);
middle:
  cells[(i + 1) % 8] += sum;
  for (unsigned k = 0; k < i % 50; ++k) sum += cells[(k + i) % 8] >> (k % 7);
  if (++i < n) goto top;
  return sum;
}

// A loop around a switch, with ways out in its cases.
static __attribute__((noinline)) uint64_t states(uint64_t *cells, unsigned n) {
  uint64_t state = n;
  for (unsigned i = 0;; ++i) {
    switch ((state + cells[i % 8]) % 11) {
      case 0: state += 3; break;
      case 1: case 2: cells[state % 8] += i; state = state * 5 + 1; break;
      case 3: if (i > n) return state; state ^= cells[i % 5]; break;
      case 4: for (unsigned k = 0; k < 30; ++k) state += cells[k % 8] & k; break;
      case 5: state = mix(state, i); break;
      default: ++state;
    }
    if (i > 4 * n) return state ^ cells[0];
  }
}

static void *work(void *argument) {
  uint64_t *sum = argument;
  for (unsigned i = 0; i < 40; ++i) *sum = mix(*sum, lists(50 + i));
  return NULL;
}

int main(void) {
  uint64_t total = 0;
  for (unsigned i = 0; i < 60; ++i) total = mix(total, lists(i * 7));
  printf("%llx\n", (unsigned long long)total);
  static const unsigned char code[] = {1, 1, 2, 4, 2, 3, 2, 3, 4, 1, 4, 1, 3, 0, 0};
  uint64_t *cells = calloc(8, sizeof *cells);
  cells[0] = 5000;
  for (unsigned i = 1; i < 8; ++i) cells[i] = i;
  total = mix(total, interpret(code, cells));
  for (unsigned i = 0; i < 8; ++i) total = mix(total, cells[i]);
  printf("%llx\n", (unsigned long long)total);
  printf("%llx\n", (unsigned long long)tree(cells, 7));
  for (unsigned i = 0; i < 60; ++i) {
    total = mix(total, grid(cells, i % 30));
    total = mix(total, two_doors(cells, 20 + i));
    total = mix(total, states(cells, 30 * i));
  }
  for (unsigned i = 0; i < 8; ++i) total = mix(total, cells[i]);
  printf("%llx\n", (unsigned long long)total);
  pthread_t threads[3];
  uint64_t *sums[3];
  for (unsigned i = 0; i < 3; ++i) {
    sums[i] = calloc(1, sizeof **sums);
    pthread_create(&threads[i], NULL, work, sums[i]);
  }
  for (unsigned i = 0; i < 3; ++i) {
    pthread_join(threads[i], NULL);
    printf("%llx\n", (unsigned long long)*sums[i]);
  }
  return 0;
}
