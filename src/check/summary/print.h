// A summary in words, for `plumb check --show-summary` and for tests.
//
//   arg0->8            what arg0 pointed to at offset 8 on entry
//   new#2              a block that the function allocated
//   arg0 != 0          a condition of a case
#pragma once

#include <string>

#include "check/model/program.h"
#include "check/summary/summary.h"

namespace plumb::check {

std::string value_text(const Program& program, const Values& values, ValueId id);
std::string summary_text(const Program& program, const Summary& summary);

}  // namespace plumb::check
