// What the preloaded library needs of a sandbox: no more than the scan. The command
// writes the report, outside.

#include "common/trace_file.h"
#include "preload/sandbox.h"

namespace plumb::rt {

const OwnCalls own_calls{.scans = true, .needed = {}, .of_own_threads = {}, .spared = {}};
void do_without_spared_calls() {}
void give_up_in_sandbox() { trace().fail(PLUMB_PHASE_GAVE_UP, PLUMB_PROBLEM_SANDBOX, ""); }

}  // namespace plumb::rt
