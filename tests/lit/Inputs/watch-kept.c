// Blocks of several pages, all of them sampled: what their place keeps once they are
// freed, as the kernel counts it. "kept too much" above LIMIT kB.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBlocks = 300, kSize = 32000 };

static long resident_kb(void) {
  long pages = 0;
  long shared = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*d %ld %ld", &pages, &shared) != 2) exit(2);
  fclose(file);
  return pages * 4;
}

int main(int count, char** arguments) {
  const long limit = count > 1 ? atol(arguments[1]) : 0;
  static char* blocks[kBlocks];
  const long before = resident_kb();
  for (int i = 0; i < kBlocks; i++) {
    blocks[i] = malloc(kSize);
    memset(blocks[i], 1, kSize);
  }
  const long filled = resident_kb();
  for (int i = 0; i < kBlocks; i++) free(blocks[i]);
  const long after = resident_kb();
  // Otherwise nothing is shown by this.
  if (filled - before < kBlocks * (kSize / 1024)) puts("not filled");
  puts(after - before > limit ? "kept too much" : "given back");
  return 0;
}
