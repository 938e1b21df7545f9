// pprof's profile format (profile.proto, gzipped): opens in `go tool pprof` and
// in servers for continuous profiling.
#pragma once

#include <string>

#include "core/report.h"
#include "report/format.h"

namespace plumb {

std::string write_pprof(const Report& report, const RenderOptions& options);

}  // namespace plumb
