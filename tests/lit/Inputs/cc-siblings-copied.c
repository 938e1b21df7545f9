// A loop that the compiler is told to copy: the block that is lost and those that are freed come from
// copies of one line.
#include <stdlib.h>
#include <string.h>

static char* volatile keeper;

__attribute__((noinline)) static void release(char* one) { free(one); }

int main(int count, char** words) {
  const int lost = count > 1 && strcmp(words[1], "lose") == 0 ? 5 : -1;
#pragma clang loop unroll_count(4)
  for (int i = 0; i < 16; i++) {
    char* one = malloc(40);
    keeper = one;
    keeper = NULL;
    if (i != lost) release(one);
  }
  return 0;
}
