// fork: the child is tracked like its parent, and reports by itself what it
// allocates itself. Everything we know is in private memory, so it has its own
// copy; only the threads are gone.

#include "compiled/fork.h"
#include "compiled/site_filter.h"

#include <unistd.h>

#include "common/inside.h"
#include "common/process.h"
#include "common/sys.h"
#include "common/trace_file.h"
#include "preload/export.h"

extern "C" pid_t __fork();

namespace plumb::rt {

namespace {

unsigned epoch = 0;
bool open = false;

// What is alive in the child was allocated, and nothing was freed yet.
void restart_counters() {
  const PlumbSection& section = trace().header().sections[PLUMB_SECTION_THREADS];
  for (uint64_t i = 1; i < section.used && i < section.capacity; ++i) {
    PlumbThread& thread = trace().threads()[i];
    thread.allocated_blocks -= thread.freed_blocks;
    thread.allocated_bytes -= thread.freed_bytes;
    thread.freed_blocks = thread.freed_bytes = 0;
  }
}

}  // namespace

unsigned process_epoch() { return epoch; }
bool arena_is_open() { return open; }
void close_arena() { open = false; }
void open_arena() { open = true; }

}  // namespace plumb::rt

using namespace plumb::rt;

PLUMB_EXPORT pid_t fork() noexcept {
  Unstoppable hold;
  const pid_t child = __fork();
  if (child != 0 || process().attached == 0) return child;
  if (epoch < 63) ++epoch;
  process().pid = sys_getpid();
  trace().header().pid = static_cast<uint32_t>(process().pid);
  restart_counters();
  forget_site_command();
  return child;
}
