#include "common/process.h"

#include "common/sys.h"
#include "common/trace_file.h"

namespace plumb::rt {

ProcessPage process_page;

bool prepare_process_page() {
  // The page is part of this library's zeroed data, which the kernel may keep
  // as a page of the file: only an anonymous mapping can be wiped.
  const long mapped = sys_mmap(&process_page, sizeof process_page, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (is_error(mapped)) return false;
  return sys_call(SYS_madvise, mapped, sizeof process_page, MADV_WIPEONFORK) == 0;
}

bool is_us() { return process().attached != 0 && process().pid == sys_getpid(); }

void give_up(uint32_t problem, const char* text) {
  set_tracking(false);
  trace().fail(PLUMB_PHASE_GAVE_UP, problem, text);
}

}  // namespace plumb::rt
