// Runs a build and learns what it compiles, without changing it.
//
// A small library is preloaded into every process of the build; each compiler
// that starts notes its directory and words in a file. The build's own
// products, its output and its status stay as they were.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "check/model/compile.h"

namespace plumb::check {

struct ObservedBuild {
  std::vector<CompileJob> jobs;  // sources that still exist when the build ends
  int wait_status = 0;           // of the build
};

// An Error: the build could not be started or nothing could be noted.
Result<ObservedBuild> observe_build(const std::vector<std::string>& command);

// The records of runtime/observe: each is DIRECTORY \0 WORD \0 ... \0 \0.
// Exposed for tests; a record that was cut short is left out.
std::vector<CompileJob> jobs_of_records(std::string_view records);

}  // namespace plumb::check
