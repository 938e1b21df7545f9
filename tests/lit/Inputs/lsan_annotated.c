// Annotated for LeakSanitizer.
#include <sanitizer/lsan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void lose(size_t size) {
  char* volatile block = malloc(size);
  block[0] = 1;
  block = NULL;
}
size_t hidden;

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "ignored") == 0) {
    void** block = malloc(16);
    *block = malloc(17);
    __lsan_ignore_object(block);
    block = NULL;
    __lsan_disable();
    lose(18);
    __lsan_enable();
    void** region = malloc(64);
    __lsan_ignore_object(region);
    __lsan_register_root_region(region, 64);
    region[1] = malloc(19);
    hidden = ~(size_t)region;
  } else if (strcmp(what, "check") == 0) {
    printf("%d", __lsan_do_recoverable_leak_check() != 0);
    lose(20);
    printf("%d\n", __lsan_do_recoverable_leak_check() != 0);
    fflush(stdout);
    __lsan_do_leak_check();  // the last one
  } else {
    lose(21);
  }
  return 0;
}
