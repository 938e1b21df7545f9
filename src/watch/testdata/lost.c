// Ends with blocks that nothing refers to, and others that are held in every way.
// -DCLEAN: nothing is lost.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
  struct node *next;
  char *text;
};

struct node *chain;  // its nodes hold the texts
char *interior;      // into the middle
char *past_end;
char *large;  // in a mapping of its own
__thread char *own;

#ifdef CLEAN
char *kept[4096];
int kept_count;
#define LOSE(p) (kept[kept_count++] = (p))
#else
#define LOSE(p) ((void)(p))
#endif

static void lose_small(void) {
  char *block = malloc(100);
  block[0] = 1;
  LOSE(block);
}
static void lose_large(void) {
  char *block = malloc(400000);
  block[0] = 1;
  LOSE(block);
}
static void hold(const char *text) {
  struct node *node = malloc(sizeof *node);
  node->text = strdup(text);
  node->next = chain;
  chain = node;
}

static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Its heap is another arena; what it holds is on its stack and in its TLS.
static void *work(void *argument) {
  char *volatile on_stack = malloc(200);
  own = malloc(300);
  memset(own, 1, 300);
  for (int i = 0; i < 100; i++) lose_small();
  pthread_mutex_lock(&lock);
  ready = 1;
  pthread_mutex_unlock(&lock);
  for (;;) {
    on_stack[1]++;
    usleep(1000);
  }
  return argument;
}

int main(void) {
  for (int i = 0; i < 1000; i++) {
    lose_small();
    hold("a text that its node holds");
    free(malloc(64));
  }
  lose_large();
  large = malloc(500000);
  interior = (char *)malloc(600) + 300;
  past_end = (char *)malloc(640) + 640;
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  for (int done = 0; !done; usleep(1000)) {
    pthread_mutex_lock(&lock);
    done = ready;
    pthread_mutex_unlock(&lock);
  }
  puts("done");
  return 4;
}
