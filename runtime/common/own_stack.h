// A stack of ours for what needs more than a thread of the program's may have left: one
// that ends the program can have 16 kB, a signal handler's less.
#pragma once

namespace plumb::rt {

// Calls work(argument) there, or where we are when there is no memory for it.
void run_on_own_stack(void (*work)(void*), void* argument);

// Are we on it? A fault must not look for another one then (FaultGuard).
bool is_on_own_stack();

}  // namespace plumb::rt
