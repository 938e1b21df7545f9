// A running program at a glance: its heap over time, and the sites that grow.
#pragma once

#include <string>

#include "core/report.h"
#include "driver/screen.h"

namespace plumb {

// One screen of text, lines no longer than the screen is wide.
std::string watch_view(const Report& report, const Screen& screen);

// Figures as a row of bars, the largest a whole one.
std::string sparkline(const std::vector<double>& values);

}  // namespace plumb
