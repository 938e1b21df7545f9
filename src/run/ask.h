// Asks the runtime inside a running program for what is lost at this moment.
//
// The program stands still while the answer is read, and goes on afterwards,
// whatever went wrong with the reading.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "run/launch.h"
#include "trace/record_reader.h"

namespace plumb {

// Fails when there was no answer in time: the program is just ending, or does not
// let signals through.
Result<Trace> ask_program(pid_t pid, const TraceMemory& memory);

}  // namespace plumb
