// The watching thread keeps no rights that the program has given up: libc
// changes user and group in the threads that it knows, and does not know this
// one.
#pragma once

#include <stdint.h>

namespace plumb::rt {

struct Ids {
  uint64_t real = 0;
  uint64_t effective = 0;
  uint64_t saved = 0;
  bool operator==(const Ids&) const = default;
};
struct Rights {
  Ids user;
  Ids group;
  unsigned groups[64];
  long group_count = 0;
};

// Has the process's first thread another user or group than this one? Which?
bool rights_differ(Rights& wanted);
void take_rights(const Rights& wanted);

}  // namespace plumb::rt
