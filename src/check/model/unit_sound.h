// Whether the numbers in a unit that was read from a file all mean something: what
// comes after relies on it and looks at nothing twice.
#pragma once

#include "check/model/unit.h"

namespace plumb::check {

bool is_sound(const Unit& unit);

}  // namespace plumb::check
