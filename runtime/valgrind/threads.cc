#include "valgrind/threads.h"

namespace plumb::vg {

Addr lowest_word = ~Addr{0};

namespace {

Thread* threads = nullptr;
UInt highest = 0;  // thread ids in use are not above it

// How far the first thread's stack may grow down.
constexpr Addr kMainStack = Addr{64} << 20;

}  // namespace

void prepare_threads() {
  threads = static_cast<Thread*>(VG_(calloc)("plumb.threads", VG_N_THREADS, sizeof(Thread)));
}

Thread& thread_state(ThreadId id) { return threads[id]; }

void note_stack(ThreadId id) {
  Thread& thread = threads[id];
  if (id > highest) highest = id;
  thread.stack_high = VG_(thread_get_stack_max)(id);
  const SizeT size = VG_(thread_get_stack_size)(id);
  const SizeT room = id == 1 && size < kMainStack ? kMainStack : size;
  thread.stack_low = thread.stack_high > room ? thread.stack_high - room : 0;
}

ThreadId stack_owner(Addr address, ThreadId running) {
  if (threads[running].stack_high == 0) note_stack(running);
  if (address >= threads[running].stack_low && address <= threads[running].stack_high) {
    return running;
  }
  for (ThreadId id = 1; id <= highest; ++id) {
    if (threads[id].stack_high != 0 && address >= threads[id].stack_low &&
        address <= threads[id].stack_high) {
      return id;
    }
  }
  return 0;
}

void set_lowest(ThreadId running) {
  Vector<Addr>& words = threads[running].stack_words;
  lowest_word = words.count == 0 ? ~Addr{0} : words.last();
}

void list_stack_word(ThreadId owner, Addr address) {
  Vector<Addr>& words = threads[owner].stack_words;
  UInt at = words.count;
  while (at > 0 && words[at - 1] < address) --at;
  if (at > 0 && words[at - 1] == address) return;
  words.insert(at, address);
}

}  // namespace plumb::vg
