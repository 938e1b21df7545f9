// Summaries and candidates as bytes that mean the same in another run: symbols and
// functions are said by their identity (identity.h), operations by their number in
// the function.
//
// What is read back was written by a run that may have been another program, or is
// damaged: it is refused unless every number in it has a meaning here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/summary/function_run.h"
#include "check/summary/identity.h"
#include "check/summary/summary.h"

namespace plumb::check {

// Of the functions of a component, in its order.
struct ComponentResult {
  std::vector<Summary> summaries;
  std::vector<Candidate> candidates;
  std::vector<std::uint64_t> hashes;  // of the summaries: summary_hash()
};

std::string to_bytes(const Identities& identities, const ComponentResult& result);
std::string to_bytes(const Identities& identities, const std::vector<Candidate>& candidates);

std::optional<ComponentResult> component_from(const Identities& identities,
                                              const std::vector<FunctionId>& component,
                                              std::string_view bytes);
// Candidates of one function.
std::optional<std::vector<Candidate>> candidates_from(const Identities& identities,
                                                      FunctionId function, std::string_view bytes);

// What a caller can see of a summary: all but the operations that allocate. Never 0.
std::uint64_t summary_hash(const Identities& identities, const Summary& summary);

}  // namespace plumb::check
