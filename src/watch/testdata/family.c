// A program that hands its work to children, in the way that its argument says:
// they grow a list that nobody looks at again (with -DCLEAN they empty it), and
// what they print is as it would be without a watcher.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "steps.h"

struct entry {
  struct entry *next;
  char text[492];
};
static struct entry *list;
static char *shared[300];  // allocated by the parent, written to by all

static __attribute__((noinline)) void grow_list(void) {
  struct entry *entry = malloc(sizeof *entry);
  memset(entry->text, 1, sizeof entry->text);
  entry->next = list;
  list = entry;
#ifdef CLEAN
  list = entry->next;
  free(entry);
#endif
}

static int work(char mark) {
  for (int i = 0; i < 300; ++i) memset(shared[i], mark, 400);
  for (int step = 0; step < 50; ++step) {
    for (int i = 0; i < 100; ++i) grow_list();
    for (int i = 0; i < 2000; ++i) free(memset(malloc(100), 2, 100));
    end_step(0.006);
  }
  for (int i = 0; i < 300; ++i) {
    for (int k = 0; k < 400; ++k) {
      if (shared[i][k] != mark) return 9;
    }
  }
  printf("%c is done\n", mark);
  fflush(stdout);
  return 5;
}

static int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

// A daemon's end; who inherited it may not have waited for it yet.
static int is_over(pid_t process) {
  char path[64], stat[512];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  if (read_text(path, stat, sizeof stat) <= 0) return 1;
  const char *state = strrchr(stat, ')');
  return state == NULL || state[2] == 'Z' || state[2] == 'X';
}

static int cloned(void *argument) { return work(*(char *)argument); }

int main(int count, char **arguments) {
  const char *how = count > 1 ? arguments[1] : "fork";
  for (int i = 0; i < 300; ++i) shared[i] = memset(malloc(400), 'p', 400);
  if (strcmp(how, "work") == 0) return work('w');
  if (strcmp(how, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) exit(work('c'));
    printf("child %d\n", status_of(child));
  } else if (strcmp(how, "clone") == 0) {
    static char mark = 'k';
    char *stack = malloc(1 << 18);
    const pid_t child = clone(cloned, stack + (1 << 18), SIGCHLD, &mark);
    printf("child %d\n", status_of(child));
  } else if (strcmp(how, "spawn") == 0) {
    pid_t child = 0;
    char *words[] = {arguments[0], "work", NULL};
    posix_spawn(&child, arguments[0], NULL, NULL, words, environ);
    printf("child %d\n", status_of(child));
  } else if (strcmp(how, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      execl(arguments[0], arguments[0], "work", (char *)NULL);
      _exit(8);
    }
    printf("child %d\n", status_of(child));
  } else if (strcmp(how, "daemon") == 0) {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    if (fork() == 0) {
      setsid();
      if (fork() == 0) {
        const int status = work('d');
        const pid_t self = status == 5 ? getpid() : 0;
        if (write(ends[1], &self, sizeof self) != sizeof self) exit(1);
        exit(0);
      }
      _exit(0);
    }
    close(ends[1]);
    pid_t daemon = 0;
    if (read(ends[0], &daemon, sizeof daemon) != sizeof daemon) daemon = 0;
    printf("daemon %s\n", daemon != 0 ? "well" : "unwell");
    for (int tries = 0; daemon != 0 && !is_over(daemon) && tries < 60000; ++tries) usleep(1000);
  }
  for (int i = 0; i < 300; ++i) {
    if (shared[i][7] != 'p') printf("the child's write\n");
  }
  return 3;
}
