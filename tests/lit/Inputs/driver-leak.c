#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void lose(void) {
  char *volatile block = malloc(4801);
  block = NULL;
}

__attribute__((noinline)) static void wipe(void) {
  volatile char room[4096];
  memset((char *)room, 0, sizeof room);
}

int main(void) {
  lose();
  wipe();
  return 0;
}
