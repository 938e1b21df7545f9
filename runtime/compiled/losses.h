// At the end: which blocks there are, and where the lost ones were lost.
#pragma once

namespace plumb::rt {

// Puts every live block into the block table. False: no room.
bool list_blocks();

// After the verdicts: for each lost block that stands for itself, the newest drop
// since it was allocated; for a cycle, the newest one of all its blocks.
void find_losses();

}  // namespace plumb::rt
