// What a program for LeakSanitizer brings along: options and suppressions.
const char* __lsan_default_options(void) { return "report_objects=1:exitcode=7"; }
const char* __lsan_default_suppressions(void) { return "leak:lose\n"; }
