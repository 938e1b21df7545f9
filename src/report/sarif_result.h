// One leak as a SARIF result.
//
// What a reader sees first is locations[0]: the primary frame, or the nearest
// to it that has a line in the source tree, since viewers can open only those;
// else the nearest with any source line, else the module. GitHub refuses a
// whole file for one result without a line, so a frame that has none stands at
// line 1 of its module there, and only there.
#pragma once

#include <cstddef>

#include "core/report.h"
#include "report/sarif_place.h"

namespace plumb {

inline constexpr std::size_t kSarifMostRelated = 100;  // places beside the first

// What all results of a run share.
struct SarifRunFacts {
  bool any_known = false;       // a baseline was applied
  bool any_suppressed = false;  // then every result says whether it is
};

// `occurrence` counts results with the same id, from 1.
SarifJson sarif_result(const Leak& leak, const Report& report, const SarifRunFacts& facts,
                       std::size_t rule_index, std::size_t occurrence, SarifPlaces& places);

}  // namespace plumb
