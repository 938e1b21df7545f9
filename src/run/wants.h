// The list of allocations that the second run is to watch (record.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/record_reader.h"

namespace plumb {

// Everything that can be recognised again of what was lost; at most
// kMaxWatched blocks, each group its share. `unnamed` says how many lost blocks
// are left out.
inline constexpr std::size_t kMaxWatched = 20'000;
struct Wants {
  std::string list;  // the file for the runtime
  std::size_t watched = 0;
  std::size_t left_out = 0;
};
// `kept`: what is still reachable, too. `scopes`: as scopes_of() has them.
Wants wants_of(const Trace& trace, bool kept = false,
               const std::vector<std::uint64_t>& scopes = {});

// Variables of the code that allocated what was lost, in frames that outlive them.
std::vector<std::uint64_t> scopes_of(const Trace& trace);

// Every allocation.
std::string want_all();

}  // namespace plumb
