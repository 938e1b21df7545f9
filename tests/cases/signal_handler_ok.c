// CASE: A signal handler sets a flag, and the block is freed outside it.
// EXPECT: none
#include <signal.h>

#include "case.h"

char* volatile g_session;
volatile sig_atomic_t g_close;

static void on_signal(int number) {
  (void)number;
  g_close = 1;
}

static void open_session(void) {
  g_session = malloc(52);
  g_session[0] = 's';
  touch(g_session);
}

int main(void) {
  signal(SIGUSR1, on_signal);
  open_session();
  raise(SIGUSR1);
  if (g_close) free(g_session);
}
