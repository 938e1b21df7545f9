// CASE: The user data of a callback is freed when the callback is removed.
// EXPECT: none
#include "case.h"

struct Timer {
  void (*call)(void* data);
  void (*drop)(void* data);
  void* data;
};

struct Timer g_timer;

static void print(void* data) { touch(data); }

static void arm(void) {
  long* data = malloc(16);
  data[0] = 1;
  g_timer.call = print;
  g_timer.drop = free;
  g_timer.data = data;
}

static void disarm(void) {
  g_timer.drop(g_timer.data);
  g_timer.call = NULL;
  g_timer.data = NULL;
}

int main(void) {
  arm();
  g_timer.call(g_timer.data);
  disarm();
}
