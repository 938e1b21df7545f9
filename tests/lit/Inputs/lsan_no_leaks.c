const char* __lsan_default_options(void) { return "detect_leaks=0"; }
