// A child of a fork goes on with a copy of its parent's tables, in which all that
// was there is the parent's; programs that are started begin anew (start.cc).
//
// The copy is made while no thread is at work in the tables or in malloc, so what
// the child knows is what its memory has.
// Limit: children by clone or forkpty, and a fork while the program ends, are not followed.

#include "preload/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/inside.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/scan.h"
#include "common/sites.h"
#include "common/stop_world.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/trace_file.h"
#include "common/watcher.h"
#include "preload/export.h"

extern "C" pid_t __fork();

namespace plumb::rt {

namespace {

char folder[128];  // empty: children are nobody's

constexpr uint64_t kMostRoom = uint64_t{24} << 30;
constexpr uint64_t kLeastRoom = uint64_t{64} << 20;

int new_trace() {
  for (uint64_t number = 1; number < 10'000; ++number) {
    PathText path;
    path.add(folder).add("/").add(static_cast<uint64_t>(sys_getpid())).add(".").add(number);
    const long file = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path.get()),
                               O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (!is_error(file)) return static_cast<int>(file);
    if (file != -17 /* EEXIST */) break;
  }
  return -1;
}

void restart_counters() {
  const PlumbSection& section = trace().header().sections[PLUMB_SECTION_THREADS];
  for (uint64_t i = 1; i < section.used && i < section.capacity; ++i) {
    PlumbThread& thread = trace().threads()[i];
    thread.allocated_blocks -= thread.freed_blocks;
    thread.allocated_bytes -= thread.freed_bytes;
    thread.freed_blocks = thread.freed_bytes = 0;
  }
}

void become_child(int file, const ProcessState& parent) {
  if (!trace().move_to(file)) return;
  process() = parent;
  process().pid = sys_getpid();
  inherit_sites();
  restart_counters();
}

// False: not now.
bool fork_and_follow(pid_t& child) {
  Unstoppable hold;
  StopResult stopped;
  if (!pause_world(stopped)) return false;
  const int file = new_trace();
  const bool copied = file >= 0 && trace().copy_to(file);
  const ProcessState state = process();
  child = __fork();
  if (child == 0 && copied)
    become_child(file, state);
  else if (file >= 0)
    sys_close(file);
  go_on();
  stopped.threads.release();
  return true;
}

}  // namespace

int begin_following(const char* where) {
  copy_text(folder, sizeof folder, where);
  const int file = new_trace();
  if (file < 0) return -1;
  for (uint64_t room = kMostRoom; room >= kLeastRoom; room /= 2) {
    if (!is_error(sys_call(SYS_ftruncate, file, static_cast<long>(room)))) return file;
  }
  sys_close(file);
  return -1;
}

}  // namespace plumb::rt

using namespace plumb::rt;

// Holding off the stop matters also when nobody follows: fork has all of malloc's
// locks for a while.
PLUMB_EXPORT pid_t fork() noexcept {
  pid_t child = -1;
  while (folder[0] != 0 && !watching() && is_us() && tracking()) {
    if (fork_and_follow(child)) return child;
    sys_sleep(1'000'000);  // another thread forks, or looks: it may stop us here
  }
  Unstoppable hold;
  return __fork();
}

// libc's own forks and ends by ways that we do not see.
PLUMB_EXPORT int daemon(int keep_directory, int keep_streams) noexcept {
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child != 0) _exit(0);
  if (setsid() < 0) return -1;
  if (keep_directory == 0) sys_call(SYS_chdir, reinterpret_cast<long>("/"));
  if (keep_streams != 0) return 0;
  const long nowhere = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/dev/null"), O_RDWR);
  struct stat info{};
  if (is_error(nowhere) || sys_call(SYS_fstat, nowhere, reinterpret_cast<long>(&info)) != 0) {
    errno = is_error(nowhere) ? static_cast<int>(-nowhere) : ENODEV;
    return -1;
  }
  if (!S_ISCHR(info.st_mode) || info.st_rdev != makedev(1, 3)) {
    sys_close(static_cast<int>(nowhere));
    errno = ENODEV;
    return -1;
  }
  for (int stream = 0; stream < 3; ++stream) sys_call(SYS_dup2, nowhere, stream);
  if (nowhere > 2) sys_close(static_cast<int>(nowhere));
  return 0;
}
