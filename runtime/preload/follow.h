// Each process that the program starts has a trace of its own, in one folder.
#pragma once

namespace plumb::rt {

// A new trace for this process; the descriptor, or -1.
int begin_following(const char* folder);

}  // namespace plumb::rt
