// What the program sees of this library.
#pragma once

#include <stddef.h>

#define PLUMB_EXPORT extern "C" __attribute__((visibility("default")))

// The malloc of this library, whatever the name means elsewhere.
extern "C" __attribute__((visibility("hidden"))) void* plumb_rt_malloc(size_t size);

namespace plumb::rt {

// How far we are; unlike process(), a forked child keeps it.
enum class Stage : int {
  starting,  // nothing is known yet
  watching,
  passing,  // not preloaded by the command, or given up
};
extern Stage stage;

void prepare_fork_handlers();

// In the child of a fork: it has all that the parent knew; watch it.
void watch_child();
// The calling thread draws anew when its next sample is.
void restart_countdown();
// In a burst, blocks are sampled so many times as often: their accesses are seen.
void sample_denser(bool on);

}  // namespace plumb::rt
