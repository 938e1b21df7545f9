// `plumb check`: leaks found without running.
//
//   units -> model -> summaries, callees first -> candidates -> findings
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "check/model/compile.h"
#include "check/summary/categories.h"
#include "check/summary/library.h"
#include "core/leak.h"
#include "core/report.h"

namespace plumb::check {

struct CheckOptions {
  std::vector<CompileJob> jobs;    // units: sources, or LLVM IR by their name
  std::vector<std::string> units;  // files that `plumb model` wrote
  std::string cache;               // folder of the unit cache; empty: none
  unsigned threads = 1;
  bool oom = false;                 // follow failed allocations
  bool globals = false;             // blocks parked in globals that nothing frees
  ModelText models;                 // what comes with Plumb: models/c.models
  ModelText resources;              // models/resources.models
  ModelText containers;             // models/containers.models
  std::vector<std::string> also;    // the resources that are looked for
  std::vector<ModelText> declared;  // what the user says of functions
  std::string show_summary;         // of the functions of this name
};

// What is known of a function, for who asks.
struct ShownSummary {
  std::string file;
  std::uint32_t line = 0;
  plumb::Summary summary;  // in words and as a graph
  std::vector<Category> categories;
};

struct CheckOutcome {
  Report report;
  std::vector<ShownSummary> summaries;  // as asked by show_summary
  std::uint64_t units_from_cache = 0;
  // Functions of which a limit cut the analysis short, by limit.
  std::vector<std::pair<std::string, std::uint64_t>> cuts;
  std::uint64_t components_from_cache = 0;  // of the call graph: summaries and candidates
};

// A unit that fails is named in the notes and skipped. Fails only when no
// unit is left.
Result<CheckOutcome> check_program(const CheckOptions& options);

}  // namespace plumb::check
