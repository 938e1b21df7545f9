// Argument 1: how to end. Lost: one block of 72 bytes, and with "return" one of
// 90, which only a local of main held. A handler frees one of 40 when handlers
// are run.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "leak.h"

static void *freed_at_exit;
static void free_it(void) { free(freed_at_exit); }

static void *end_soon(void *status) {
  exit((int)(long)status);
  return NULL;
}

static int is_default(int number) {
  struct sigaction now;
  sigaction(number, NULL, &now);
  return now.sa_handler == SIG_DFL;
}

static void end(const char *how) {
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(3);
  if (strcmp(how, "_Exit") == 0) _Exit(3);
  if (strcmp(how, "quick_exit") == 0) quick_exit(3);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "segv") == 0) *(volatile int *)8 = 1;
  if (strcmp(how, "fpe") == 0) raise(SIGFPE);
  if (strcmp(how, "term") == 0) {
    if (!is_default(SIGTERM) || signal(SIGTERM, SIG_IGN) != SIG_DFL) exit(99);
    if (signal(SIGTERM, SIG_DFL) != SIG_IGN || !is_default(SIGTERM)) exit(98);
    kill(getpid(), SIGTERM);
  }
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(how, "pthread_exit") == 0) {
    pthread_t other;
    pthread_create(&other, NULL, end_soon, (void *)3L);
    pthread_exit(NULL);
  }
  if (strcmp(how, "two") == 0) {
    pthread_t other;
    pthread_create(&other, NULL, end_soon, (void *)3L);
    exit(3);
  }
  if (strcmp(how, "exec") == 0) execlp("true", "true", (char *)NULL);
  if (strcmp(how, "exec-held") == 0) {  // by a register that calls preserve
    register void *held __asm__("r12") = make(64);
    __asm__ volatile("" : "+r"(held));
    scrub();
    execlp("true", "true", (char *)NULL);
    __asm__ volatile("" : : "r"(held));
  }
  if (strcmp(how, "exec-fails") == 0) {
    if (execl("/no/such/program", "x", (char *)NULL) != -1) exit(97);
    drop(make(8));
    exit(3);
  }
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  void *volatile local = make(90);
  if (strcmp(arguments[1], "quick_exit") == 0) {
    at_quick_exit(free_it);
  } else {
    atexit(free_it);
  }
  freed_at_exit = make(40);
  drop(make(72));
  scrub();
  if (strcmp(arguments[1], "pthread_exit") == 0) free((void *)local);
  end(arguments[1]);
  hide((void *)local);
  return 3;
}
