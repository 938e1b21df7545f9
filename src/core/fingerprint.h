// The identity of a leak across rebuilds, directories and edits elsewhere.
//
// A leak is named by words that survive those: kind, resource, the function
// names of its allocation and loss stacks (normalised: no clone suffixes, no
// ABI tags; allocator and start-up frames left out; direct recursion folded),
// cause and holder. Addresses, paths and line numbers are not in it. Two leaks
// of one report with the same words are told apart by their order in the
// source, so a line inserted above either changes nothing.
//
// Limit: without any symbol a frame is named by module and offset, which a
// rebuild changes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/function_name.h"
#include "core/report.h"

namespace plumb {

// The words above as one string; equal for leaks that only their place in the
// source tells apart.
std::string identity(const Leak& leak, const Report& report);

// Leaks of one report with equal identity, by a 128-bit digest of it, in the
// order of the source (place.h).
struct IdentityGroups {
  std::vector<std::string> keys;  // digest of each leak of the report
  std::unordered_map<std::string, std::vector<std::size_t>> members;  // indices into its leaks
};
IdentityGroups group_by_identity(const Report& report);

// Sets Leak::id for every leak. Deterministic; independent of the order of
// the list.
void assign_ids(Report& report);

}  // namespace plumb
