// Each function loses one block, whose size says which one it was.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
  char *name;
  struct table *next;
};
char *text;

static int by_return(int n) {
  char *p = malloc(101);
  strcpy(p, "one");
  if (n > 3)
    return -1;
  puts(p);
  return 0;
}

static void by_member(struct table *t) {
  t->name = malloc(102);
  t->name[0] = 'x';
  t->name = NULL;
}

// Another table's name was printed.
static void of_another(struct table *t) {
  t->next->name = malloc(103);
  struct table *at = t;
  at->name = "name";
  puts(at->name);
  at = at->next;
  at->name = NULL;
}

static void by_global(void) {
  text = malloc(104);
  memset(text, 0, 104);
  text = NULL;
}

static int by_two_ways(int n) {
  char *p = malloc(105);
  if (n)
    p[0] = 1;
  else
    p[1] = 2;
  return n;
}

static void fill(char **line) { *line = malloc(106); }

// What was used before the call is not what the call left there.
static void by_callee(void) {
  char *line = malloc(8);
  memset(line, 0, 8);
  free(line);
  fill(&line);
}

// Where it was freed it is not lost: the other way counts.
static void by_flag(int owned) {
  char *p = malloc(107);
  memset(p, 0, 107);
  if (owned) free(p);
}

static int is_kept(struct table *t) { return t->name != NULL; }

int main(int argc, char **argv) {
  struct table two = {0}, one = {0};
  one.next = &two;
  by_return(argc + 3);
  by_member(&one);
  of_another(&one);
  by_global();
  by_two_ways(argc);
  by_callee();
  by_flag(0);
  by_flag(1);
  return is_kept(&two) + (argv == NULL);
}
