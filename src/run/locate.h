// From what the tool saw to what the source says: where a block was lost, and
// what held it last.
//
// The tool sees the machine's places: a word of a frame that is still there when
// the inlined function it belonged to is long over, a register that nobody reads
// again. Debug information says which variable that was; then the loss is where
// that variable's scope ends or where it is set anew, in the source function
// that has it. Without such a variable, the machine's place stands, or the line
// behind the last read; what a member function that was inlined and does
// not change its object read last is its caller's.
#pragma once

#include <vector>

#include "core/leak.h"
#include "trace/record_reader.h"
#include "trace/symbolise.h"

namespace plumb {

// As in a TraceWatched, with the modules of the symboliser.
struct SeenLoss {
  std::optional<Cause> cause;
  bool returned = false;
  bool last_read = false;
  bool thrown = false;
  bool not_stored = false;
  std::vector<TraceAddress> stack;  // not empty
  std::vector<TraceAddress> allocation = {};
  std::vector<TraceAddress> trail;
  std::vector<TraceAddress> use;
  TracePlace place;
};

Loss locate(const SeenLoss& seen, Symboliser& symbols);

}  // namespace plumb
