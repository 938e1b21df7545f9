// Hands the complete trace to the command, which writes the report.
#pragma once

namespace plumb::rt {

// Where this library is, to find the command from; at start-up.
void prepare_report(char** environment);
// sites=: starts the command that knows them.
void prepare_sites();

// When the program begins to end: its handlers may close standard error, which
// the report needs.
void keep_errors_open();

// The report of the end is not wanted any more.
void say_nothing_more();

// A line on standard error, as of the command.
void complain(const char* text);

// In the middle: what is lost now. True when anything is.
bool write_report_now();

// What the program says to LeakSanitizer (lsan_interface.cc).
bool lsan_is_turned_off();
const char* lsan_default_options();       // null: none
const char* lsan_default_suppressions();  // null: none

// After the scan. With findings and PLUMB_OPTIONS=exitcode=N the process ends here.
void write_report();

}  // namespace plumb::rt
