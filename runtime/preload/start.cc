// Before anything of the program runs (the library is linked with initfirst):
// reads what the command wants, opens the trace, and takes its places.
//
// Whatever fails here, the program runs on without us and the trace, if there
// is one, says why. The one thing that is refused is a malloc that is not
// glibc's: nothing of the program has happened yet, so it is simply not
// started.

#include <dlfcn.h>
#include <stdlib.h>

#include "common/block_table.h"
#include "common/environment.h"
#include "common/heap_layout.h"
#include "common/own_malloc.h"
#include "common/process.h"
#include "common/stack_depot.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/thread_stacks.h"
#include "common/threads.h"
#include "common/trace_file.h"
#include "common/watcher.h"
#include "preload/end.h"
#include "preload/export.h"

extern "C" int __cxa_atexit(void (*)(void*), void*, void*);
extern "C" int __cxa_at_quick_exit(void (*)(void*), void*);

using namespace plumb::rt;

namespace {

struct Settings {
  int file = -1;
  unsigned depth = 1;
  bool scrub = false;
  int watch = -1;     // list of allocations to watch
  bool bind = false;  // LD_BIND_NOW is the command's
};

Settings parse_settings(const char* text) {
  Settings settings;
  while (*text != 0) {
    if (const char* value = after(text, "fd="); value != nullptr) {
      settings.file = static_cast<int>(take_decimal(value));
    } else if (value = after(text, "depth="); value != nullptr) {
      settings.depth = static_cast<unsigned>(take_decimal(value));
    } else if (value = after(text, "scrub="); value != nullptr) {
      settings.scrub = take_decimal(value) != 0;
    } else if (value = after(text, "watch="); value != nullptr) {
      settings.watch = static_cast<int>(take_decimal(value));
    } else if (value = after(text, "bind="); value != nullptr) {
      settings.bind = take_decimal(value) != 0;
    }
    while (*text != 0 && *text != ':') ++text;
    if (*text == ':') ++text;
  }
  return settings;
}

// What the command or Valgrind put there, besides our own variable.
Settings the_settings;

bool is_also_ours(const char* entry) {
  if (the_settings.watch < 0) return false;
  if (the_settings.bind && after(entry, "LD_BIND_NOW=") != nullptr) return true;
  return after(entry, "VALGRIND_LIB=") != nullptr || after(entry, "VALGRIND_LAUNCHER=") != nullptr;
}

// The allocator that would have been used without us.
bool next_malloc_is_glibc() {
  void* next = dlsym(RTLD_NEXT, "malloc");
  Dl_info next_place{};
  Dl_info libc_place{};
  return next != nullptr && dladdr(next, &next_place) != 0 &&
         dladdr(reinterpret_cast<void*>(&__libc_malloc), &libc_place) != 0 &&
         next_place.dli_fbase == libc_place.dli_fbase;
}

[[noreturn]] void refuse(void* symbol) {
  Dl_info place{};
  const bool known = symbol != nullptr && dladdr(symbol, &place) != 0;
  trace().fail(PLUMB_PHASE_REFUSED, PLUMB_PROBLEM_OTHER_MALLOC, known ? place.dli_fname : "");
  sys_call(SYS_exit_group, 127);
  __builtin_unreachable();
}

void at_quick_exit_hook(void*) { end_of_quick_exit(); }

bool prepare_tables() {
  return prepare_threads() && block_table().prepare() && prepare_stack_depot() &&
         prepare_thread_stacks();
}

void attach(const Settings& settings) {
  prepare_process_page();
  if (!trace().open(settings.file, settings.depth)) return;
  if (!malloc_is_ours(&plumb_rt_malloc)) refuse(dlsym(RTLD_DEFAULT, "malloc"));
  if (!next_malloc_is_glibc()) refuse(dlsym(RTLD_NEXT, "malloc"));
  if (!prepare_tables()) {
    trace().fail(PLUMB_PHASE_GAVE_UP, PLUMB_PROBLEM_OUT_OF_MEMORY, "no memory for the tables");
    return;
  }
  if (settings.watch >= 0 && !start_watching(settings.watch)) {
    trace().fail(PLUMB_PHASE_GAVE_UP, PLUMB_PROBLEM_NO_TOOL, "");
    return;
  }
  if (!prepare_heap_layout()) trace().limit(PLUMB_LIMIT_MAIN_ARENA);
  real();
  process().pid = sys_getpid();
  process().stack_depth = settings.depth;
  process().scrub = settings.scrub ? 1 : 0;
  process().attached = 1;
  thread_state.name = 1;
  __cxa_atexit(end_of_exit, nullptr, nullptr);
  __cxa_at_quick_exit(at_quick_exit_hook, nullptr);
  prepare_signals();
  set_tracking(true);
}

__attribute__((constructor)) void start(int, char**, char** environment) {
  const char* text = own_settings(environment);
  if (text == nullptr) return;  // preloaded by somebody else
  the_settings = parse_settings(text);
  clean_environment(environment, is_also_ours);
  if (the_settings.file >= 0) attach(the_settings);
}

}  // namespace
