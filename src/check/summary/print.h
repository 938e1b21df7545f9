// A summary in words, for `plumb check --show-summary` and for tests.
//
//   l->head            what the parameter's member held on entry; l->8 by its
//                      offset where debug information has no name
//   new#2              a block that the function allocated
//   arg0 != 0          a condition of a case
#pragma once

#include <string>

#include "check/model/program.h"
#include "check/summary/summary.h"

namespace plumb::check {

std::string summary_text(const Program& program, FunctionId function, const Summary& summary);

}  // namespace plumb::check
