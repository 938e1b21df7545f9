/* A program whose leaks are known: what `plumb doctor` runs to see that
 * `plumb run` works here from end to end. It is installed beside the runtime.
 */
#include "driver/known_leak.h"

#include <stdlib.h>
#include <string.h>

static void* volatile kept;

__attribute__((noinline)) static void lose_two_blocks(void) {
  void** holder = malloc(kLostBytes);
  if (holder == NULL) return;
  holder[0] = malloc(kHangingBytes);
  /* Known to the compiler only as "used": it may not drop the calls. */
  __asm__ volatile("" : : "r"(holder) : "memory");
}

/* What a dead frame leaves on the stack would still look like a reference. */
__attribute__((noinline)) static void wipe_stack(void) {
  char room[16384];
  memset(room, 0, sizeof room);
  __asm__ volatile("" : : "r"(room) : "memory");
}

int main(void) {
  kept = malloc(kForgottenBytes);
  lose_two_blocks();
  wipe_stack();
  return 0;
}
