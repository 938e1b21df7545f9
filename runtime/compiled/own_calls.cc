// What the runtime of `plumb cc` needs of a sandbox: it starts the command that writes the
// report. The arena's advice to the kernel can be left out.

#include <sys/mman.h>

#include "common/libc_malloc.h"
#include "common/sys.h"
#include "common/trace_file.h"
#include "compiled/arena.h"
#include "compiled/finish.h"
#include "preload/sandbox.h"

namespace plumb::rt {

namespace {

constexpr SystemCall kNeeded[] = {
    {SYS_memfd_create, {}}, {SYS_pwrite64, {3}}, {SYS_fcntl, {2}}, {SYS_write, {2}},
    {SYS_clone, {}},        {SYS_execve, {}},    {SYS_wait4, {}},
};
constexpr SystemCall kSpared[] = {
    {SYS_madvise, {0, 4096, MADV_DONTNEED}},
    {SYS_madvise, {0, 4096, MADV_HUGEPAGE}},
    {SYS_mremap, {}},
};

}  // namespace

const OwnCalls own_calls{
    .scans = true, .needed = all_of(kNeeded), .of_own_threads = {}, .spared = all_of(kSpared)};

void do_without_spared_calls() { arena_asks_nothing(); }

void give_up_in_sandbox() {
  // libc's allocator serves the program from now on. It asks for random numbers when it
  // begins, which it would have done long ago without us.
  __libc_free(__libc_malloc(1));
  trace().fail(PLUMB_PHASE_GAVE_UP, PLUMB_PROBLEM_SANDBOX, "");
  complain(
      "the program forbids itself the system calls (seccomp) that a report at its end needs: "
      "it runs untracked from here on");
}

}  // namespace plumb::rt
