// sanitizer/lsan_interface.h, so that programs that are annotated for
// LeakSanitizer need no change.
//
// Of __lsan_default_options what has a meaning here is taken (options.cc), and
// PLUMB_OPTIONS comes after it; __lsan_default_suppressions join those of
// PLUMB_OPTIONS.

#include <stddef.h>
#include <stdint.h>

#include "common/annotations.h"
#include "common/inside.h"
#include "common/process.h"
#include "common/scan_entry.h"
#include "common/sys.h"
#include "compiled/finish.h"
#include "compiled/losses.h"
#include "compiled/options.h"
#include "preload/export.h"

using namespace plumb::rt;

// The program's own, if it has one.
extern "C" __attribute__((weak)) int __lsan_is_turned_off();
extern "C" __attribute__((weak)) const char* __lsan_default_options();
extern "C" __attribute__((weak)) const char* __lsan_default_suppressions();

namespace plumb::rt {

bool lsan_is_turned_off() {
  return &__lsan_is_turned_off != nullptr && __lsan_is_turned_off() != 0;
}
const char* lsan_default_options() {
  return &__lsan_default_options != nullptr ? __lsan_default_options() : nullptr;
}
const char* lsan_default_suppressions() {
  return &__lsan_default_suppressions != nullptr ? __lsan_default_suppressions() : nullptr;
}

}  // namespace plumb::rt

namespace {

void look(void* context) {
  find_losses();
  *static_cast<bool*>(context) = write_report_now();
}

extern "C" __attribute__((used, visibility("hidden"))) int plumb_rt_check_again(int,
                                                                                SavedEntry* saved) {
  bool lost = false;
  scan_and_go_on(point_of(*saved), look, &lost);
  return lost ? 1 : 0;
}

// The last check: nothing more is said when the program ends.
extern "C" __attribute__((used, visibility("hidden"))) void plumb_rt_check_once(int,
                                                                                SavedEntry* saved) {
  bool lost = false;
  scan_and_go_on(point_of(*saved), look, &lost);
  say_nothing_more();
  if (lost && options().exit_code >= 0) {
    sys_call(SYS_exit_group, options().exit_code);
  }
}

}  // namespace

PLUMB_EXPORT void __lsan_disable() { ++thread_state.ignoring; }
PLUMB_EXPORT void __lsan_enable() {
  if (thread_state.ignoring > 0) --thread_state.ignoring;
}
PLUMB_EXPORT void __lsan_ignore_object(const void* block) {
  ignore_address(reinterpret_cast<uintptr_t>(block));
}
PLUMB_EXPORT void __lsan_register_root_region(const void* begin, size_t size) {
  Inside in;
  change_root(reinterpret_cast<uintptr_t>(begin), size, 1);
}
PLUMB_EXPORT void __lsan_unregister_root_region(const void* begin, size_t size) {
  Inside in;
  change_root(reinterpret_cast<uintptr_t>(begin), size, -1);
}
PLUMB_EXPORT __attribute__((naked)) void __lsan_do_leak_check() {
  PLUMB_SAVED_ENTRY(plumb_rt_check_once);
}
PLUMB_EXPORT __attribute__((naked)) int __lsan_do_recoverable_leak_check() {
  PLUMB_SAVED_ENTRY(plumb_rt_check_again);
}
