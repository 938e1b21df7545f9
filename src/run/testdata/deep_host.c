// Argument 1: a shared object that is loaded so that it finds libc's functions first. It
// frees 60 blocks of 24 bytes and 3 of 2,000; two of 56 bytes are lost.
#include <dlfcn.h>

#include "leak.h"

int main(int count, char **arguments) {
  if (count != 2) return 2;
  void *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_DEEPBIND);
  if (plugin == NULL) return 3;
  void (*release)(void *) = (void (*)(void *))dlsym(plugin, "plugin_free");
  void *blocks[60];
  for (int i = 0; i < 60; ++i) blocks[i] = make(24);
  void *large[3];
  for (int i = 0; i < 3; ++i) large[i] = make(2000);
  drop(make(56));
  for (int i = 0; i < 60; ++i) release(blocks[i]);
  for (int i = 0; i < 3; ++i) release(large[i]);
  drop(make(56));
  memset(blocks, 0, sizeof blocks);
  memset(large, 0, sizeof large);
  hide(blocks);
  hide(large);
  scrub();
  return 0;
}
