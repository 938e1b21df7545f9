#pragma once

#include <string>

#include "core/report.h"
#include "report/format.h"

namespace plumb {

std::string write_text(const Report& report, const RenderOptions& options);

}  // namespace plumb
