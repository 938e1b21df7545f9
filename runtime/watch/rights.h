// The watching thread keeps no rights that the program has given up: libc
// changes user and group in the threads that it knows, and does not know this
// one.
#pragma once

namespace plumb::rt {

// Takes over the user and groups of the process's first thread.
void follow_rights();

}  // namespace plumb::rt
