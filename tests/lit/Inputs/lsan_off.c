int __lsan_is_turned_off(void) { return 1; }
