// Goes into the group of its second argument, which has 64 MB. "within" keeps to it, in
// itself and in a child; "beyond" does not.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBlocks = 30000, kSize = 500 };
static char *blocks[kBlocks];

static void fill(char mark) {
  for (int i = 0; i < kBlocks; ++i) memset(blocks[i], mark, kSize);
}
static int holds(char mark) {
  for (int i = 0; i < kBlocks; ++i) {
    for (int k = 0; k < kSize; ++k) {
      if (blocks[i][k] != mark) return 0;
    }
  }
  return 1;
}

int main(int count, char **arguments) {
  if (count != 3) return 1;
  FILE *group = fopen(arguments[2], "w");
  if (group == NULL || fprintf(group, "%d", getpid()) < 0 || fclose(group) != 0) return 1;
  const int beyond = strcmp(arguments[1], "beyond") == 0;
  for (int i = 0; i < kBlocks; ++i) blocks[i] = malloc(kSize);
  for (int round = 0; round < 40; ++round) fill((char)round);
  const pid_t child = fork();
  if (child == 0) {
    const int whole = holds(39);
    fill('c');
    _exit(whole && holds('c') ? 5 : 6);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d, %s\n", WEXITSTATUS(status), holds(39) ? "whole" : "the child's");
  fflush(stdout);
  if (beyond) {
    usleep(600000);  // a snapshot is written meanwhile
    for (int i = 0; i < 1024; ++i) memset(malloc(1 << 20), 1, 1 << 20);
  }
  return 3;
}
