// Argument 1: a shared object, which is gone before the end. Lost: 72 bytes.
#include <dlfcn.h>

#include "leak.h"

int main(int count, char **arguments) {
  if (count != 2) return 2;
  void *plugin = dlopen(arguments[1], RTLD_NOW);
  if (plugin == NULL) return 3;
  void *(*allocate)(void) = (void *(*)(void))dlsym(plugin, "plugin_allocate");
  drop(allocate());
  dlclose(plugin);
  scrub();
  return 0;
}
