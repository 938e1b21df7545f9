// Where leaks lie in the source, for those that nothing but their place tells
// apart.
//
// A place is compared relative to the start of its function where that is
// known, so that lines added above move nothing; else by line, which keeps
// the order. Limit: without lines the offset in the module decides, which a
// rebuild may reorder.
#pragma once

#include <compare>
#include <cstdint>

#include "core/report.h"

namespace plumb {

// A leak with the report that its module indices refer to.
struct PlacedLeak {
  const Leak* leak = nullptr;
  const Report* report = nullptr;
};

// Order in the source: allocation stack innermost first, then loss stack, then
// path. Never equal for leaks that differ in anything a reader can see of
// them: their figures decide last.
std::strong_ordering compare_places(const PlacedLeak& a, const PlacedLeak& b);

// How far apart: lines between the frames, summed; 0 for the same place.
std::uint64_t place_distance(const PlacedLeak& a, const PlacedLeak& b);

// Empty when the leak has none.
const Stack& loss_stack(const Leak& leak);

// The module of a frame, or null (also for an index that is not in the table).
const Module* module_of(const Frame& frame, const Report& report);

}  // namespace plumb
