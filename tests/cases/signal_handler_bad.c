// CASE: A signal handler clears the global that held a block.
// EXPECT: lost 1 block 52 bytes
// CAUSE: overwritten
// GAP(check): found - what a global holds is not followed
#include <signal.h>

#include "case.h"

char* volatile g_session;

static void on_signal(int number) {
  (void)number;
  g_session = NULL;  // LOSS g_session
}

static void open_session(void) {
  g_session = malloc(52);  // ALLOC
  g_session[0] = 's';
  touch(g_session);  // USE
}

int main(void) {
  signal(SIGUSR1, on_signal);
  open_session();
  raise(SIGUSR1);
}
