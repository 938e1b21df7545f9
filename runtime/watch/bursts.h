// Adaptive bursty tracing, for code compiled with -fplumb=sampled: where blocks
// were accessed last, and on which way the program came there.
//
// Checks in the code count down (plugin/sampled_twin.h) and ask here when they run
// out. The n-th time, a check is given (Decr^(n-1) - 1) * nInstr0 executions until
// the next one, but never so many that its rate falls below Min: rare code is
// traced, hot code sampled. A burst is nInstr0 checks long and goes on in the
// functions that are called; of loops that call nothing it sees the first rounds. In
// it each access to a sampled block comes here, and is written down with the stack and
// the checks of the burst.
//
// A program that is not watched never gets into a burst.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::rt {

struct BurstSettings {
  uint64_t decrease = 10;    // Decr
  uint64_t least_of = 1000;  // Min is one of so many
  uint64_t length = 10;      // nInstr0
};
extern BurstSettings burst_settings;

// `text` is PLUMB_OPTIONS: decrease=10:least=0.1%:burst=10.
void read_burst_settings(const char* text);

}  // namespace plumb::rt
