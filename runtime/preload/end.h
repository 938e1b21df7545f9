// The hooks that the constructor registers with libc.
#pragma once

namespace plumb::rt {

void end_of_exit(void*);
void end_of_quick_exit();

// Takes over the signals that would end the program.
void prepare_signals();

}  // namespace plumb::rt
