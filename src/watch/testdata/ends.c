// Ends in the way that its argument says, after some work.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "quick") == 0) quick_exit(8);
  printf("end\n");
  return 4;
}
