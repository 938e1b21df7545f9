// A procedure summary as the graph that a report draws: nodes are what pointers
// point to, edges what is found at an offset of them.
//
// Dotted edges (`before`) were there when the function was entered; the others are
// what it writes. `allocated` is a block that the function made, `freed` one that it
// frees on some path. Only what is reached from the arguments, the result or a write
// is there; its number is bounded.
#pragma once

#include <string>

#include "check/model/program.h"
#include "check/summary/summary.h"
#include "core/leak.h"

namespace plumb::check {

// Without nodes when nothing is known of the function, or it touches no memory.
plumb::Summary summary_graph(const Program& program, FunctionId function, const Summary& summary);

}  // namespace plumb::check
