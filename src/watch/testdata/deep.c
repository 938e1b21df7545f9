// -DPLUGIN: a shared object that frees and resizes blocks of others, by calls and through
// a table of functions. Otherwise a program that loads it (argument 1) so that it finds
// libc's functions before anybody else's: bound at once, then lazily by its bare name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLUGIN
static char *made;
__attribute__((constructor)) static void begin(void) {
  for (int i = 0; i < 100; i++) free(strdup("in the constructor"));
  made = strdup("kept");
}
void (*table[])(void *) = {free};
void release(void *block) { free(block); }
void release_by_table(void *block) { table[0](block); }
void *grow(void *block) { return realloc(block, 5000); }
void release_own(void) { free(made); }
#else
typedef void (*Release)(void *);
int main(int count, char **arguments) {
  for (int i = 1; i < count; i++) {
    void *plugin = dlopen(arguments[i], (i == 1 ? RTLD_NOW : RTLD_LAZY) | RTLD_DEEPBIND);
    if (plugin == NULL) return 3;
    Release release[] = {(Release)dlsym(plugin, "release"),
                         (Release)dlsym(plugin, "release_by_table")};
    void *(*grow)(void *) = (void *(*)(void *))dlsym(plugin, "grow");
    for (int k = 0; k < 2000; k++) {
      char *block = strdup("some text that is here to stay");
      block = grow(block);
      if (strcmp(block, "some text that is here to stay") != 0) return 4;
      release[k % 2](block);
      release[k / 2 % 2](malloc(k));
    }
    ((void (*)(void))dlsym(plugin, "release_own"))();
  }
  puts("done");
  return 6;
}
#endif
