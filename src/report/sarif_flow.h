// The way of a block through the program as a SARIF code flow: the path of a
// static finding, or allocation, last use and loss of one seen at run time.
//
// Limit: GitHub keeps 1,000 steps of a result. A longer path shows its start
// and its end, where the allocation and the loss are; a step between them says
// how many are missing.
#pragma once

#include <cstddef>

#include "core/leak.h"
#include "report/sarif_place.h"

namespace plumb {

inline constexpr std::size_t kSarifMostSteps = 1000;

// Null when fewer than two places are known.
SarifJson sarif_code_flows(const Leak& leak, SarifPlaces& places);

}  // namespace plumb
