// The second look: the program once more, under our Valgrind tool, which
// watches the allocations that were lost the first time and says where.
//
// The second run has the same arguments and environment. Its output goes
// nowhere, since it was seen before. Its input is the same when that is a file
// (which is set back, and afterwards to where the first run had left it);
// otherwise there is none, and a program that reads it is not run to its end.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "run/launch.h"
#include "trace/record_reader.h"

namespace plumb {

// The folder with the tool. An error says what is missing, or why this machine
// cannot run it.
Result<std::string> valgrind_tool();

// Where standard input is, so that it can be read once more.
class Input {
 public:
  Input();
  // There is nothing that could be read twice, or once.
  bool is_gone() const { return gone_; }
  void rewind() const;
  void restore() const;
  void note_end();

 private:
  bool gone_ = false;
  off_t begin_ = -1;  // -1: not a file
  off_t end_ = -1;
};

// Runs it and reads what was watched. An error is what limits the result: the
// first run's answer stands.
// `kept`: what is still reachable is watched, too.
Result<Trace> look_again(Launch launch, const Trace& found, bool kept, const Input& input,
                         double first_seconds, int& wait_status);

}  // namespace plumb
