// The runtime's functions under names that ThreadSanitizer leaves alone.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {
void* plumb_tested_malloc(size_t size);
void* plumb_tested_realloc(void* block, size_t size);
void plumb_tested_free(void* block);
// A reference to the block goes.
void plumb_tested_drop(void* block);
// Live blocks. Nobody else may be at work.
unsigned long plumb_tested_blocks();
// ... of these, those with a drop since they were allocated.
unsigned long plumb_tested_dropped();
}
