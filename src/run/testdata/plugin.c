#include "leak.h"

// Calls back nobody: the block is lost when the host forgets it.
__attribute__((visibility("default"))) void *plugin_allocate(void) { return hide(malloc(72)); }
