// For the programs that the tests watch: their life goes on in steps, so that what
// the watcher sees does not depend on how fast or how busy the machine is. A step
// takes some CPU time, which is the watcher's clock, and is not over before the
// watching thread has looked twice; without one there is nothing to wait for.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline int read_text(const char *path, char *text, int size) {
  const int file = open(path, O_RDONLY);
  const int got = file < 0 ? -1 : (int)read(file, text, (size_t)size - 1);
  if (file >= 0) close(file);
  text[got < 0 ? 0 : got] = 0;
  return got;
}

// The watching thread of this process; 0 when there is none.
static inline int watcher_thread(void) {
  static int process, thread;
  if (process == getpid()) return thread;
  process = getpid();
  thread = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
    char path[300], name[64];
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    if (read_text(path, name, sizeof name) > 0 && strncmp(name, "plumb-watch", 11) == 0) {
      thread = atoi(entry->d_name);
    }
  }
  if (tasks != NULL) closedir(tasks);
  return thread;
}

// How often it has gone to sleep, which it does after each look; -1 without one.
static inline long watcher_looks(void) {
  char path[64], status[4096];
  if (watcher_thread() == 0) return -1;
  snprintf(path, sizeof path, "/proc/self/task/%d/status", watcher_thread());
  if (read_text(path, status, sizeof status) <= 0) return -1;
  const char *at = strstr(status, "\nvoluntary_ctxt_switches:");
  return at == NULL ? -1 : atol(at + 25);
}

static inline void end_step(double seconds) {
  static double begin;
  while (cpu_seconds() < begin + seconds) {
    for (volatile int i = 0; i < 2000; ++i) {
    }
  }
  // A look that is under way may have begun before us: two.
  const long looks = watcher_looks();
  for (int tries = 0; looks >= 0 && watcher_looks() < looks + 2 && tries < 60000; ++tries) {
    usleep(500);
  }
  begin = cpu_seconds();
}
