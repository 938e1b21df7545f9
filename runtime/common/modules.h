// The modules that stacks refer to, written down when a stack first mentions
// them: at the end of the program a module may be gone, or another one may be
// in its place.
//
// The loader's lock is never taken (_dl_find_object needs none): the program
// may hold locks of its own while it allocates.
// Limit: a module that libc unloads by itself (name service, iconv) is noticed
// only when another one is found in its place.
#pragma once

#include <stdint.h>

#include "common/inside.h"
#include "trace/record.h"

namespace plumb::rt {

// Grows when a module was unloaded: addresses then mean something else.
extern uint32_t current_module_epoch;
inline uint32_t module_epoch() { return __atomic_load_n(&current_module_epoch, __ATOMIC_ACQUIRE); }

// Makes sure that the module around this code address is written down.
void note_module(Inside& in, uintptr_t address);

// The entry of the module that has this address now; null when there is none.
const PlumbModule* module_of(Inside& in, uintptr_t address);

// To be called after a dlclose.
void modules_changed(Inside& in);

// As hold_own_memory.
void hold_modules();
void let_go_modules();

}  // namespace plumb::rt
