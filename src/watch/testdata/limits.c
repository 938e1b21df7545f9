// A program that comes to its limits, or changes them; what it prints does not depend
// on where exactly they are.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMegabyte = 1 << 20, kSmall = 4000 };
static char* large[4096];
static char* small[kSmall];

static void limit(int what, rlim_t most) {
  struct rlimit value;
  getrlimit(what, &value);
  value.rlim_cur = most < value.rlim_max ? most : value.rlim_max;
  if (setrlimit(what, &value) != 0) perror("setrlimit");
}

static size_t mapped(void) {
  size_t pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%zu", &pages) != 1) abort();
  fclose(file);
  return pages * 4096;
}

static void write_small(char mark) {
  for (int i = 0; i < kSmall; ++i) memset(small[i], mark, 300);
}
static int has_small(char mark) {
  for (int i = 0; i < kSmall; ++i) {
    for (int k = 0; k < 300; ++k) {
      if (small[i][k] != mark) return 0;
    }
  }
  return 1;
}

static int fork_and_write(void) {
  const pid_t child = fork();
  if (child == 0) {
    const int had = has_small('p');
    write_small('c');
    _exit(had && has_small('c') ? 5 : 6);
  }
  int status = 0;
  if (child < 0) return -errno;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int main(int count, char** arguments) {
  const char* how = count > 1 ? arguments[1] : "";
  for (int i = 0; i < kSmall; ++i) small[i] = malloc(300);
  write_small('p');
  if (strcmp(how, "memory") == 0) {
    limit(RLIMIT_AS, mapped() + 200 * kMegabyte);
    int used = 0;
    while (used < 4096 && (large[used] = malloc(kMegabyte)) != NULL) memset(large[used++], 1, 9);
    printf("%s\n", used > 100 && used < 4096 && errno == ENOMEM ? "no memory left" : "?");
    printf("child %d\n", fork_and_write());
    while (used > 0) free(large[--used]);
    char* zeros = calloc(kMegabyte, 1);
    printf("%s\n", zeros != NULL && zeros[kMegabyte - 1] == 0 ? "recovered" : "?");
    free(zeros);
  } else if (strcmp(how, "files") == 0) {
    limit(RLIMIT_NOFILE, RLIM_INFINITY);
    int sum = 0;
    for (int i = 0; i < 900; ++i) sum += open("/dev/null", O_RDONLY);
    printf("descriptors %d\n", sum);
    limit(RLIMIT_NOFILE, 3);
    printf("%s\n", open("/dev/null", O_RDONLY) < 0 && errno == EMFILE ? "no more" : "?");
    limit(RLIMIT_NOFILE, 2000);
    printf("descriptor %d\n", open("/dev/null", O_RDONLY));
  } else if (strcmp(how, "data") == 0) {  // with what it was given (ulimit -d)
    for (int i = 0; i < 200; ++i) {
      if ((large[i] = malloc(kMegabyte)) == NULL) return 1;
      memset(large[i], 1, kMegabyte);
    }
    printf("200 MB\n");
  }
  printf("%s\n", has_small('p') ? "whole" : "the child's write");
  return 3;
}
