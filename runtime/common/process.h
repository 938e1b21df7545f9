// Is this process ours to track? One page says so, and the kernel wipes it in
// every child that gets a copy of the memory (fork, and clone without CLONE_VM
// however it is called), so a child is untracked from its first instruction
// and never writes into the parent's trace. A vfork child shares the memory:
// its allocations are the parent's, only its end is not (see is_us).
#pragma once

#include <stdint.h>

namespace plumb::rt {

struct ProcessState {
  int tracking;  // allocations are recorded
  int attached;  // the trace is open and this process has not handed it in
  int pid;
  unsigned stack_depth;
  int quick_stacks;  // only as far as they are cheap
  int scrub;         // new blocks are zeroed
  int arrivals;      // counts allocations until tracking starts
};
struct alignas(4096) ProcessPage {
  ProcessState state;
};
extern ProcessPage process_page;

inline bool tracking() {
  return __builtin_expect(__atomic_load_n(&process_page.state.tracking, __ATOMIC_RELAXED) != 0, 1);
}
inline void set_tracking(bool on) {
  __atomic_store_n(&process_page.state.tracking, on ? 1 : 0, __ATOMIC_RELEASE);
}
inline ProcessState& process() { return process_page.state; }

// False when the kernel cannot wipe pages on fork; fork is interposed, too.
bool prepare_process_page();

// The traced process itself, not a child that shares its memory.
bool is_us();

// Stops tracking for good; the program goes on. `problem` is a PlumbProblem.
void give_up(uint32_t problem, const char* text);

}  // namespace plumb::rt
