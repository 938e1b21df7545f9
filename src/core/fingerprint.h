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

#include <string>
#include <string_view>

#include "core/report.h"

namespace plumb {

// "foo(int) [clone .isra.0]" -> "foo(int)", "std::string[abi:cxx11]::x" -> ...
std::string normalised_function(std::string_view function);

// The words above as one string; equal for leaks that only their place in the
// source tells apart.
std::string identity(const Leak& leak, const Report& report);

// Sets Leak::id for every leak. Deterministic; independent of the order of
// the list.
void assign_ids(Report& report);

}  // namespace plumb
