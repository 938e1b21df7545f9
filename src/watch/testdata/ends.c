// Ends in the way that its argument says, after some work.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void* kept[20000];

// Some work and some rest, until there is such a file.
static void wait_for_file(const char* path) {
  for (int i = 0; i < 6000 && access(path, F_OK) != 0; ++i) {
    usleep(10000);
    for (volatile int k = 0; k < 1000000; ++k) {
    }
  }
}

// Until the file was replaced twice: the second one was begun after we came here.
static void wait_for_new(const char* path) {
  struct stat old = {0}, now;
  stat(path, &old);
  for (int tries = 0, seen = 0; seen < 2 && tries < 60000; ++tries, usleep(1000)) {
    if (stat(path, &now) != 0) continue;
    if (now.st_ino == old.st_ino && now.st_mtim.tv_sec == old.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == old.st_mtim.tv_nsec) {
      continue;
    }
    old = now;
    ++seen;
  }
}

static void leave(int number) { _exit(number == SIGUSR1 ? 9 : 1); }

// From a handler with hardly a stack of its own; the page below it cannot be written.
static void leave_by_handler(void) {
  char* pages = mmap(NULL, 4096 + MINSIGSTKSZ * 2, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(pages, 4096, PROT_NONE);
  stack_t stack = {.ss_sp = pages + 4096, .ss_size = MINSIGSTKSZ * 2};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = leave, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
}

// Nothing but writing and ending is allowed from here on, in all threads if so wished: ours,
// too. `waits`: what programs with threads need besides.
static void shut_in(int waits, int all_threads) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, (unsigned)SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (!waits) code[3].jt = code[4].jt = 0;  // then the next, which ends it
  printf("shut in\n");
  fflush(stdout);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (all_threads)
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  else
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void* leave_by_thread(void* unused) {
  exit(10);
  return unused;
}

// Two threads with the smallest stacks end the program at once.
static void leave_by_threads(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], &attributes, leave_by_thread, NULL);
  for (;;) pause();
}

int main(int count, char** arguments) {
  const char* how = count > 1 ? arguments[1] : "";
  for (int i = 0; i < 20000; ++i) kept[i] = memset(malloc(300), 1, 300);
  if (strcmp(how, "wait") == 0) {
    printf("ready\n");
    fflush(stdout);
    wait_for_file(arguments[2]);
    return 0;
  }
  if (strcmp(how, "kill") == 0) {
    char path[4096];
    snprintf(path, sizeof path, "%s%d", arguments[2], getpid());
    wait_for_new(path);
    kill(getpid(), SIGKILL);
  }
  if (strcmp(how, "rights") == 0) {  // as a server does that root started
    if (setgid(65534) != 0 || setuid(65534) != 0) return 1;
    for (int i = 0; i < 100; ++i) usleep(10000);
    for (int i = 0; i < 20000; ++i) free(kept[i]);
    // Goes on for a while: what is freed as a program ends counts as held to its end.
    for (const clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 4;) {
    }
  }
  if (strcmp(how, "exec") == 0) execlp("echo", "echo", "the other program", (char*)NULL);
  if (strcmp(how, "_exit") == 0) _exit(7);
  if (strcmp(how, "handler") == 0) leave_by_handler();
  if (strcmp(how, "threads") == 0) leave_by_threads();
  if (strcmp(how, "shut-in") == 0) shut_in(1, 0);
  if (strcmp(how, "shut-in-tightly") == 0) shut_in(0, 0);
  if (strcmp(how, "all-shut-in") == 0) shut_in(1, 1);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "quick") == 0) quick_exit(8);
  printf("end\n");
  return 4;
}
