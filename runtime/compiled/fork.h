// The process and its children.
#pragma once

#include <stddef.h>

namespace plumb::rt {

// How many forks lie between the program's start and this process, at most 63.
unsigned process_epoch();
// False once the verdicts are being given: the arena must stay as it is.
bool arena_is_open();
void close_arena();
void open_arena();

// Zeroes the words that refer to blocks.
void clear_references(void* begin, size_t size);

}  // namespace plumb::rt
