#include <stdlib.h>

__attribute__((visibility("default"))) void plugin_free(void *block) { free(block); }
