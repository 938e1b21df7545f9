// Can all that is known on a path hold at once? Asks Z3.
//
// Values become bit vectors of 64 bits: what has fewer is sign-extended, as in
// Values, and compared by its own bits. Objects have addresses far from each
// other and from 0; what the analysis does not know is free. So "no" means that
// no input leads along the path, and "yes" only that nothing known forbids it.
//
// The budget counts the solver's own steps: the answer does not depend on the
// machine.
#pragma once

#include <cstdint>

#include "check/summary/state.h"
#include "check/summary/value.h"

namespace plumb::check {

enum class Feasible : std::uint8_t { yes, no, undecided };

Feasible is_feasible(const Values& values, const State& state, unsigned budget);

}  // namespace plumb::check
