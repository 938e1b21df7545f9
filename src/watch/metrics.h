// A report as Prometheus reads it (text exposition 0.0.4), and the small HTTP
// server that hands it out on loopback.
//
// Each stale site is a time series of its own; their number is bounded, and
// what is beyond it is summed up under site="other". A site's label is its
// fingerprint, which stays the same across restarts and machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "core/report.h"

namespace plumb {

std::string metrics_text(const Report& report, std::size_t most_sites = 50);

// Answers GET /metrics on 127.0.0.1 until `text` fails; then that is the result.
// An Error also when the port cannot be had. `ready` is told the port in use.
Result<void> serve_metrics(std::uint16_t port, const std::function<Result<std::string>()>& text,
                           const std::function<void(std::uint16_t)>& ready);

}  // namespace plumb
