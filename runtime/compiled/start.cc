// Before anything of the program runs: reads PLUMB_OPTIONS, reserves the arena
// and takes our places. Whatever fails, the program runs on without us.

#include <dlfcn.h>
#include <string.h>

#include "common/block_table.h"
#include "common/process.h"
#include "common/scan.h"
#include "common/stack_depot.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/thread_stacks.h"
#include "common/trace_file.h"
#include "compiled/arena.h"
#include "compiled/drop.h"
#include "compiled/finish.h"
#include "compiled/fork.h"
#include "compiled/losses.h"
#include "compiled/options.h"
#include "compiled/place_notes.h"
#include "compiled/thread_heap.h"
#include "compiled/walk.h"
#include "preload/end.h"
#include "preload/export.h"
#include "preload/thread_hooks.h"

extern "C" int __cxa_atexit(void (*)(void*), void*, void*);
extern "C" int __cxa_at_quick_exit(void (*)(void*), void*);

using namespace plumb::rt;

namespace {

constexpr uint64_t kTraceRoom = uint64_t{16} << 30;

void complain(const char* text) {
  sys_call(SYS_write, 2, reinterpret_cast<long>(text), static_cast<long>(strlen(text)));
}

const char* variable(char** environment, const char* name) {
  for (; *environment != nullptr; ++environment) {
    if (const char* value = after(*environment, name); value != nullptr) return value;
  }
  return nullptr;
}

// Drops and accesses write there for every value that looks like one of ours, whether
// we track anything or not.
#ifdef PLUMB_UNDER_TSAN
constexpr int kThere = MAP_FIXED;  // instead of what keeps others out
#else
constexpr int kThere = MAP_FIXED_NOREPLACE;
#endif
bool map_shadow(uint64_t begin) {
  const long got = sys_mmap(reinterpret_cast<void*>(begin), kShadowSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | kThere, -1, 0);
  if (is_error(got)) return false;
  sys_call(SYS_madvise, got, kShadowSize, MADV_DONTDUMP);
  return static_cast<uintptr_t>(got) == begin;
}

// Another malloc before ours in the search order serves the program: its blocks
// are not ours to track.
bool malloc_is_ours() {
#ifdef PLUMB_UNDER_TSAN
  return true;  // the program's is ThreadSanitizer's, and the test asks ours by name
#endif
  return reinterpret_cast<void* (*)(size_t)>(dlsym(RTLD_DEFAULT, "malloc")) == &plumb_rt_malloc;
}

const char* mode_name(Mode mode) {
  return mode == Mode::minimal ? "minimal" : mode == Mode::partial ? "partial" : "full";
}

// A new thread goes on from the time of the one that started it.
uint64_t current_time() { return __plumb_clock; }
void continue_from(uint64_t time) {
  if (__plumb_clock < time) __plumb_clock = time;
}

// A scan was not the end.
void go_on() {
  trace().header().sections[PLUMB_SECTION_LOST].used = 1;
  trace().header().sections[PLUMB_SECTION_FREES].used = 1;
  open_arena();
}

void at_quick_exit_hook(void*) { end_of_quick_exit(); }

bool prepare(const CompiledOptions& wanted) {
  return trace().open_private(kTraceRoom, wanted.depth) && block_table().prepare() &&
         prepare_stack_depot() && prepare_thread_stacks() && prepare_thread_heaps() &&
         prepare_place_notes() && prepare_walks() && prepare_arena(wanted.mode != Mode::minimal);
}

__attribute__((constructor)) void start(int, char**, char** environment) {
  if (process().attached != 0) return;
  read_lsan_options(lsan_default_options());
  read_options(variable(environment, "PLUMB_OPTIONS="));
  const CompiledOptions& wanted = options();
  if (wanted.unknown[0] != 0) {
    complain("plumb: PLUMB_OPTIONS: unknown mode; there are full, partial, minimal and off\n");
  }
  if (wanted.unknown_last_use) {
    complain("plumb: PLUMB_OPTIONS: unknown last_use; there are access and pointer\n");
  }
  const bool shadow = map_shadow(kShadowBegin) && map_shadow(kShadowBegin | kUseShadow);
  if (wanted.mode == Mode::off || !malloc_is_ours()) return;
  if (!shadow || !prepare(wanted)) {
    complain(
        "plumb: no room to track this program's memory (is the address space limited, ulimit -v?); "
        "it runs untracked\n");
    return;
  }
  PlumbTraceHeader& header = trace().header();
  header.engine = PLUMB_ENGINE_CC;
  copy_text(header.mode, sizeof header.mode, mode_name(wanted.mode));
  prepare_report(environment);
  real();
  process().pid = sys_getpid();
  process().stack_depth = wanted.depth;
  prepare_sites();
  process().attached = 1;
  thread_hooks = {current_time, continue_from};
  scan_hooks = {keep_errors_open, list_blocks, find_losses, write_report, go_on};
  __cxa_atexit(end_of_exit, nullptr, nullptr);
  __cxa_at_quick_exit(at_quick_exit_hook, nullptr);
  prepare_signals();
  open_arena();
  set_tracking(true);
}

}  // namespace
