// What `run` and `watch` do around the user's program: look before it starts
// whether the report can be written, and after it ended hide, judge, show, and
// end as it did.
#pragma once

#include "base/result.h"
#include "core/report.h"
#include "driver/command.h"
#include "driver/judge.h"
#include "driver/stats.h"

namespace plumb {

// A run may take hours: a file that cannot be written is known before it.
Result<void> check_output(const Settings& settings, Opt opt);

// A report that is not the last one: to where the last one goes.
void show_so_far(Report& report, Settings settings, Aids& aids);

struct EndedProgram {
  Report& report;
  int wait_status;
};
Ending finish_program(EndedProgram ended, Settings settings, Aids& aids, Stats& stats);

}  // namespace plumb
