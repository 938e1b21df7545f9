// Units that say the same.
//
// A build compiles a source once for a static and once for a shared library, or for two
// programs. Mostly the flags that differ change nothing: then the model of the second
// is that of the first, byte for byte, and to analyse it again would cost as much and
// find the same.
#pragma once

#include <vector>

#include "check/model/unit.h"

namespace plumb::check {

// By unit: is it equal to one before?
std::vector<bool> find_twins(const std::vector<Unit>& units);

}  // namespace plumb::check
