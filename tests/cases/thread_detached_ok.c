// CASE: A detached thread frees its block and ends before main does.
// EXPECT: none
// FLAGS: -pthread -D_GNU_SOURCE
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"

static void handle(void) {
  char* request = malloc(44);
  request[0] = 'q';
  touch(request);
  free(request);
}

static void* serve(void* unused) {
  handle();
  return unused;
}

// The kernel's list of our threads has one entry each.
static long task_entries(void) {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 ? (long)tasks.st_nlink : 0;
}

int main(void) {
  const long alone = task_entries();
  pthread_t thread;
  pthread_create(&thread, NULL, serve, NULL);
  pthread_detach(thread);
  while (task_entries() > alone) usleep(1000);
}
