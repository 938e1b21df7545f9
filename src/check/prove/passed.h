// What the callers of a function pass it, where they are all known.
//
// A static function whose address goes nowhere is called by name alone, from its own unit.
// When each of these calls passes a pointer that is not null, or one of a few numbers, no
// path through the function has anything else, though its body may well ask. The calls are
// seen in a run over each caller, all paths merged as in the first stage; what a caller
// passes on of its own parameters is known as far as those are, so that functions that call
// each other are known together, as the least that holds for all of them.
//
// Limits: ranges of single parameters, not what several have in common. Where a run over
// a caller did not get everywhere, or one of the calls was not seen, nothing is known.
#pragma once

#include <unordered_map>
#include <vector>

#include "check/model/program.h"
#include "check/summary/function_run.h"

namespace plumb::check {

// By FunctionId: a fact for each parameter. Functions of which nothing is known are absent.
using PassedFacts = std::unordered_map<std::uint32_t, std::vector<Fact>>;

PassedFacts find_passed(const Program& program, const Library& library,
                        const std::vector<Summary>& summaries, const Limits& limits,
                        const std::vector<FunctionId>& functions, unsigned threads);

}  // namespace plumb::check
