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
#include "common/libc_malloc.h"
#include "common/live_blocks.h"
#include "common/mark.h"
#include "common/own_malloc.h"
#include "common/process.h"
#include "common/scan.h"
#include "common/stack_depot.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/thread_stacks.h"
#include "common/threads.h"
#include "common/trace_file.h"
#include "common/watcher.h"
#include "preload/ask.h"
#include "preload/divert.h"
#include "preload/end.h"
#include "preload/export.h"
#include "preload/follow.h"
#include "preload/memcheck_requests.h"

extern "C" int __cxa_atexit(void (*)(void*), void*, void*);
extern "C" int __cxa_at_quick_exit(void (*)(void*), void*);

using namespace plumb::rt;

namespace {

struct Settings {
  Diversion diversions[kMaxDiversions] = {};
  unsigned diversion_count = 0;
  int file = -1;
  unsigned depth = 1;
  bool quick = false;  // stacks only as far as they are cheap
  bool scrub = false;
  int watch = -1;         // list of allocations to watch
  bool bind = false;      // LD_BIND_NOW is the command's
  uint64_t mask = 0;      // see mark.h
  bool ask = false;       // the command may ask in the middle
  char folder[128] = {};  // where each process makes its own trace; empty: only this one
};

// "a2@1234", "f1=pool_give"; up to the next colon.
void parse_diversion(const char* at, Settings& settings) {
  if (settings.diversion_count == kMaxDiversions) return;
  Diversion& wish = settings.diversions[settings.diversion_count++];
  wish.frees = *at++ == 'f';
  wish.argument = static_cast<uint8_t>(take_decimal(at));
  if (*at++ == '@') {
    wish.address = take_hex(at);
    return;
  }
  size_t used = 0;
  while (at[used] != 0 && at[used] != ':' && used + 1 < sizeof wish.name) {
    wish.name[used] = at[used];
    ++used;
  }
}

// Those that free come first: without one of them, blocks would look lost that are not.
void divert_all(Settings& settings) {
  bool frees_are_seen = true;
  for (int round = 0; round < 2; ++round) {
    const bool frees = round == 0;
    for (unsigned i = 0; i < settings.diversion_count && frees_are_seen; ++i) {
      Diversion& wish = settings.diversions[i];
      if (wish.frees != frees) continue;
      if (wish.address != 0) wish.address += executable_bias();
      if (divert(wish)) continue;
      trace().limit(PLUMB_LIMIT_NOT_DIVERTED);
      if (frees) frees_are_seen = false;
    }
  }
}

void parse_settings(const char* text, Settings& settings) {
  while (*text != 0) {
    if (const char* value = after(text, "fd="); value != nullptr) {
      settings.file = static_cast<int>(take_decimal(value));
    } else if (value = after(text, "depth="); value != nullptr) {
      settings.depth = static_cast<unsigned>(take_decimal(value));
    } else if (value = after(text, "quick="); value != nullptr) {
      settings.quick = take_decimal(value) != 0;
    } else if (value = after(text, "scrub="); value != nullptr) {
      settings.scrub = take_decimal(value) != 0;
    } else if (value = after(text, "watch="); value != nullptr) {
      settings.watch = static_cast<int>(take_decimal(value));
    } else if (value = after(text, "bind="); value != nullptr) {
      settings.bind = take_decimal(value) != 0;
    } else if (value = after(text, "mask="); value != nullptr) {
      settings.mask = take_decimal(value);
    } else if (value = after(text, "fn="); value != nullptr) {
      parse_diversion(value, settings);
    } else if (value = after(text, "ask="); value != nullptr) {
      settings.ask = take_decimal(value) != 0;
    } else if (value = after(text, "dir="); value != nullptr) {
      size_t used = 0;
      while (value[used] != 0 && value[used] != ':' && used + 1 < sizeof settings.folder) {
        settings.folder[used] = value[used];
        ++used;
      }
    }
    while (*text != 0 && *text != ':') ++text;
    if (*text == ':') ++text;
  }
}

// What the command or Valgrind put there, besides our own variable.
Settings the_settings;

bool is_also_ours(const char* entry) {
  if (the_settings.watch < 0) return false;
  if (the_settings.bind && after(entry, "LD_BIND_NOW=") != nullptr) return true;
  return after(entry, "VALGRIND_LIB=") != nullptr || after(entry, "VALGRIND_LAUNCHER=") != nullptr;
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
  return prepare_threads() && open_sites() && block_table().prepare() && prepare_stack_depot() &&
         prepare_thread_stacks();
}

void attach(Settings& settings) {
  prepare_process_page();
  if (!trace().open(settings.file, settings.depth)) return;
  if (!malloc_is_ours(&plumb_rt_malloc)) refuse(dlsym(RTLD_DEFAULT, "malloc"));
  // The allocator that would have been used without us.
  if (!is_libc(dlsym(RTLD_NEXT, "malloc"))) refuse(dlsym(RTLD_NEXT, "malloc"));
  void* const inner = reinterpret_cast<void*>(&__libc_malloc);
  if (!is_libc(inner)) refuse(inner);
  if (!prepare_tables()) {
    trace().fail(PLUMB_PHASE_GAVE_UP, PLUMB_PROBLEM_OUT_OF_MEMORY, "no memory for the tables");
    return;
  }
  if (settings.watch >= 0 && !start_watching(settings.watch, memcheck_request_entry())) {
    trace().fail(PLUMB_PHASE_GAVE_UP, PLUMB_PROBLEM_NO_TOOL, "");
    return;
  }
  reserve_room();
  if (!prepare_heap_layout()) trace().limit(PLUMB_LIMIT_MAIN_ARENA);
  real();
  process().pid = sys_getpid();
  process().stack_depth = settings.depth;
  process().quick_stacks = settings.quick ? 1 : 0;
  // The tool wipes references that go with their memory by itself.
  process().scrub = settings.scrub && settings.watch < 0 ? 1 : 0;
  scan_hooks.fill = list_live_blocks;
  scan_hooks.resumed = restore_live_blocks;
  process().attached = 1;
  thread_state.name = 1;
  __cxa_atexit(end_of_exit, nullptr, nullptr);
  __cxa_at_quick_exit(at_quick_exit_hook, nullptr);
  prepare_signals();
  if (settings.ask) prepare_questions();
  divert_all(settings);
  pointer_mask = settings.mask;
  set_tracking(true);
}

__attribute__((constructor)) void start(int, char**, char** environment) {
  const char* text = own_settings(environment);
  if (text == nullptr) return;  // preloaded by somebody else
  parse_settings(text, the_settings);
  if (the_settings.folder[0] != 0) {
    // What is left in the environment makes the programs that this one starts
    // do the same.
    the_settings.file = begin_following(the_settings.folder);
  } else {
    clean_environment(environment, is_also_ours);
  }
  if (the_settings.file >= 0) attach(the_settings);
}

}  // namespace
