// Before anything of the program runs (the library is linked with initfirst):
// reads what the command wants, gets the tables, starts the watching thread.
//
// Whatever fails here, the program runs on without us. The one thing that is
// refused is a program whose malloc does not come to us: it is not started,
// and the snapshot file says why.

#include <dlfcn.h>

#include "common/environment.h"
#include "common/own_malloc.h"
#include "common/process.h"
#include "common/stack_depot.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/threads.h"
#include "common/trace_file.h"
#include "watch/bursts.h"
#include "watch/export.h"
#include "watch/model.h"
#include "watch/next.h"
#include "watch/other_names.h"
#include "watch/reach.h"
#include "watch/watcher.h"

using namespace plumb::rt;

namespace {

constexpr uint64_t kTraceRoom = uint64_t{192} << 20;

// With fewer addresses than this the program needs them more than we do.
constexpr uint64_t kLeastAddresses = uint64_t{1} << 30;

// What the command said; a child's paths are made from it anew.
char settings_text[8192];

// Up to the next ':'. "%3A" is the character, "%p" the process's number.
void take_path(const char* at, char* to, size_t room) {
  size_t used = 0;
  const auto put = [&](char letter) {
    if (used + 1 < room) to[used++] = letter;
  };
  for (; *at != 0 && *at != ':'; ++at) {
    if (at[0] == '%' && at[1] == 'p') {
      for (const char* digit = PathText().add(static_cast<uint64_t>(sys_getpid())).get();
           *digit != 0; ++digit) {
        put(*digit);
      }
      ++at;
    } else if (at[0] == '%' && at[1] != 0 && at[2] != 0) {
      const char code[3] = {at[1], at[2], 0};
      const char* digits = code;
      put(static_cast<char>(take_hex(digits)));
      at += 2;
    } else {
      put(*at);
    }
  }
  to[used] = 0;
}

void parse_settings(const char* text) {
  WatchSettings& settings = watch_settings;
  while (*text != 0) {
    if (const char* value = after(text, "file="); value != nullptr) {
      take_path(value, settings.file, sizeof settings.file);
    } else if (value = after(text, "socket="); value != nullptr) {
      take_path(value, settings.socket, sizeof settings.socket);
    } else if (value = after(text, "epoch="); value != nullptr) {
      settings.epoch = take_decimal(value) * 1'000'000;
    } else if (value = after(text, "interval="); value != nullptr) {
      settings.interval = take_decimal(value) * 1'000'000;
    } else if (value = after(text, "sample="); value != nullptr) {
      settings.mean = take_decimal(value);
    } else if (value = after(text, "search="); value != nullptr) {
      settings.search = take_decimal(value);
    } else if (value = after(text, "depth="); value != nullptr) {
      settings.depth = static_cast<unsigned>(take_decimal(value));
    } else if (value = after(text, "follow="); value != nullptr) {
      settings.follow = take_decimal(value) != 0;
    } else if (value = after(text, "launcher="); value != nullptr) {
      settings.launcher = static_cast<int>(take_decimal(value));
    }
    while (*text != 0 && *text != ':') ++text;
    if (*text == ':') ++text;
  }
}

[[noreturn]] void refuse() {
  Dl_info place{};
  void* symbol = dlsym(RTLD_DEFAULT, "malloc");
  const bool known = symbol != nullptr && dladdr(symbol, &place) != 0;
  write_problem(PLUMB_WATCH_REFUSED, known ? place.dli_fname : "");
  while (true) sys_call(SYS_exit_group, 127);
}

[[noreturn]] void refuse_for(const OtherCall& call) {
  write_problem(PLUMB_WATCH_OTHER, call.function);
  while (true) sys_call(SYS_exit_group, 127);
}

// C++ programs with such an allocator may call it past malloc.
bool new_passes_by() {
  void* operator_new = dlsym(RTLD_DEFAULT, "_Znwm");
  Dl_info place{};
  Dl_info allocator{};
  return operator_new != nullptr && !next_allocator.is_glibc && dladdr(operator_new, &place) != 0 &&
         dladdr(reinterpret_cast<void*>(next_allocator.malloc), &allocator) != 0 &&
         place.dli_fbase == allocator.dli_fbase;
}

void attach() {
  prepare_process_page();
  if (!malloc_is_ours(&plumb_rt_malloc)) {
    // Only the program itself is refused; what it starts runs unwatched.
    const bool started_by_us = sys_call(SYS_getppid) == watch_settings.launcher;
    if (watch_settings.follow && !started_by_us) return;
    refuse();
  }
  if (OtherCall call{}; find_other_call(call)) {
    if (watch_settings.follow && sys_call(SYS_getppid) != watch_settings.launcher) return;
    refuse_for(call);
  }
  next_allocator.free(next_allocator.malloc(1));  // looked up, if nobody had called it yet
  const uint64_t addresses = address_limit();
  if (addresses < kLeastAddresses) {
    write_problem(PLUMB_WATCH_NO_ROOM, "");
    return;
  }
  const uint64_t room = addresses / 16 < kTraceRoom ? addresses / 16 : kTraceRoom;
  if (!trace().open_private(room, watch_settings.depth) || !prepare_threads() ||
      !prepare_stack_depot() || !model().prepare(watch_settings.epoch)) {
    write_problem(PLUMB_WATCH_NO_ROOM, "");
    return;
  }
  if (!next_allocator.is_glibc) model().limit(PLUMB_WATCH_NO_LARGE);
  if (new_passes_by()) model().limit(PLUMB_WATCH_NEW_PASSES);
  process().pid = sys_getpid();
  process().stack_depth = watch_settings.depth;
  process().attached = 1;
  if (watch_settings.search != 0) prepare_reach();
  prepare_fork_handlers();
  if (!start_watcher()) return;
  stage = Stage::watching;
  set_tracking(true);
}

}  // namespace

namespace plumb::rt {

void watch_child() {
  parse_settings(settings_text);
  process().pid = sys_getpid();
  process().stack_depth = watch_settings.depth;
  process().attached = 1;
  if (!restart_watcher()) {
    process().attached = 0;
    return;
  }
  restart_countdown();
  set_tracking(true);
}

}  // namespace plumb::rt

namespace {

__attribute__((constructor)) void start(int, char**, char** environment) {
  const char* text = own_settings(environment);
  const bool ours = text != nullptr && after(text, "watch:") != nullptr;
  if (ours) {
    copy_text(settings_text, sizeof settings_text, text);
    parse_settings(settings_text);
    for (char** at = environment; *at != nullptr; ++at) {
      const char* options = after(*at, "PLUMB_OPTIONS=");
      if (options != nullptr) read_burst_settings(options);
    }
  }
  // What the program starts finds us there when it is to be watched as well.
  if (text != nullptr && !watch_settings.follow) clean_environment(environment);
  if (ours) attach();
  if (stage != Stage::watching) stage = Stage::passing;
}

}  // namespace
