// What the watching library needs of a sandbox. When it cannot have it, the last snapshot
// is the one of that moment.

#include <sys/mman.h>
#include <time.h>

#include "common/sys.h"
#include "preload/sandbox.h"
#include "watch/model.h"
#include "watch/watcher.h"

namespace plumb::rt {

namespace {

// Samples get their room and give it back in the thread that has them; at the end it waits
// for the last snapshot.
constexpr SystemCall kNeeded[] = {
    {SYS_mmap, {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~uint64_t{0}}},
    {SYS_munmap, {}},
    {SYS_mremap, {}},
    {SYS_madvise, {0, 4096, MADV_REMOVE}},
    {SYS_getrandom, {}},
    {SYS_clock_gettime, {CLOCK_PROCESS_CPUTIME_ID}},
    {SYS_futex, {}},
    {SYS_getpid, {}},
};
// The watching thread.
constexpr SystemCall kWatching[] = {
    {SYS_openat, {static_cast<uint64_t>(AT_FDCWD), 0, O_RDONLY | O_CLOEXEC}},
    {SYS_read, {3}},
    {SYS_pread64, {3}},
    {SYS_pwrite64, {3}},
    {SYS_close, {3}},
    {SYS_renameat, {}},
    {SYS_unlinkat, {}},
    {SYS_accept4, {3}},
    {SYS_sendto, {3}},
    {SYS_madvise, {0, 4096, MADV_DONTNEED}},
    {SYS_futex, {}},
    {SYS_clock_gettime, {CLOCK_MONOTONIC}},
};

}  // namespace

const OwnCalls own_calls{
    .scans = false, .needed = all_of(kNeeded), .of_own_threads = all_of(kWatching), .spared = {}};

void do_without_spared_calls() {}

void give_up_in_sandbox() {
  model().limit(PLUMB_WATCH_SHUT_IN);
  model().give_nothing_back();
  end_watcher();
}

}  // namespace plumb::rt
