// The path of a static finding, step by step with its branches.
#pragma once

#include <string>
#include <vector>

#include "core/leak.h"
#include "report/text_flow.h"
#include "report/text_place.h"

namespace plumb {

// Numbered steps; the middle of a long path is left out unless `whole`.
std::string write_path(const std::vector<Step>& path, const Places& places, const Page& page,
                       bool whole);

}  // namespace plumb
