// A result that is passed on and kept by nobody, asked about while the function is running.
#include <plumb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char** words) {
  char* kept = malloc(23);
  char text[64];
  if (count > 1 && strcmp(words[1], "lose") == 0) snprintf(text, sizeof text, "%p", malloc(1337));
  printf("%lu\n", (unsigned long)plumb_lost_blocks());
  free(kept);
  return 0;
}
