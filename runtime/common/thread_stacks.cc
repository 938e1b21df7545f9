#include "common/thread_stacks.h"

#include <pthread.h>

#include "common/process.h"
#include "common/safe_copy.h"
#include "common/spin_lock.h"
#include "common/sys.h"

namespace plumb::rt {

namespace {

constexpr size_t kSearchWords = 0x900 / sizeof(uintptr_t);  // of struct pthread

struct Known {
  uintptr_t thread_pointer;
  uintptr_t low;  // of its stack
};
// By thread pointer; a new thread on an old stack takes the old one's place.
constexpr size_t kKnown = size_t{1} << 16;
Known* known = nullptr;
SpinLock known_lock;
int low_offset = -1;  // words into struct pthread
uintptr_t main_frame = 0;
uintptr_t main_stack_end = 0;

uintptr_t word_at(uintptr_t thread_pointer, size_t index) {
  return reinterpret_cast<const uintptr_t*>(thread_pointer)[index];
}

// The same of a stack that may have been given back since the mappings were read
// (the memory that they were read into took its place); 0 then.
uintptr_t word_if_there(uintptr_t thread_pointer, size_t index) {
  uintptr_t word = 0;
  safe_copy(&word, reinterpret_cast<const uintptr_t*>(thread_pointer) + index, sizeof word);
  return word;
}

// struct pthread has: start of the stack block, its size, its guard's size.
void find_low_offset(uintptr_t self) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* start = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &start, &size);
  pthread_attr_destroy(&attributes);
  const uintptr_t low = reinterpret_cast<uintptr_t>(start);
  for (size_t i = 0; i + 2 < kSearchWords; ++i) {
    const uintptr_t block = word_at(self, i);
    if (block != 0 && block <= low && block + word_at(self, i + 1) == low + size &&
        block + word_at(self, i + 2) == low) {
      low_offset = static_cast<int>(i);
      return;
    }
  }
}

// The start of the stack that a thread pointer's struct pthread lies at the end
// of; 0 when it is not one that libc made.
uintptr_t stack_low(uintptr_t thread_pointer, uintptr_t stack_pointer) {
  if (low_offset < 0 || thread_pointer == 0) return 0;
  const uintptr_t low = word_if_there(thread_pointer, static_cast<size_t>(low_offset));
  const uintptr_t size = word_if_there(thread_pointer, static_cast<size_t>(low_offset) + 1);
  const bool inside = low != 0 && low < thread_pointer && thread_pointer < low + size;
  return inside && stack_pointer >= low && stack_pointer < thread_pointer ? low : 0;
}

void below_stack_pointer(uintptr_t thread_pointer, uintptr_t stack_pointer, uintptr_t red_zone,
                         const OwnVector<Mapping>& mappings, OwnVector<Range>& dead) {
  if (stack_pointer == 0) return;
  uintptr_t low = stack_low(thread_pointer, stack_pointer);
  if (low == 0) {
    const Mapping* mapping = mapping_at(mappings, stack_pointer);
    if (mapping == nullptr || !mapping->stack) return;
    low = mapping->range.begin;
  }
  if (stack_pointer - red_zone > low) dead.push({low, stack_pointer - red_zone});
}

bool first_thread_ended(const StopResult& threads) {
  const int first = process().pid;
  if (sys_gettid() == first || !threads.all_known) return false;
  for (size_t i = 0; i < threads.threads.size(); ++i) {
    if (threads.threads[i].tid == first) return false;
  }
  return true;
}

bool in_use(const Known& stack, const StopResult& threads, uintptr_t own_stack_pointer,
            uintptr_t own_thread_pointer) {
  const auto holds = [&stack](uintptr_t thread_pointer, uintptr_t stack_pointer) {
    return thread_pointer == stack.thread_pointer ||
           (stack_pointer >= stack.low && stack_pointer < stack.thread_pointer);
  };
  if (holds(own_thread_pointer, own_stack_pointer)) return true;
  for (size_t i = 0; i < threads.threads.size(); ++i) {
    const StoppedThread& thread = threads.threads[i];
    if (holds(thread.thread_pointer, thread.stack_pointer)) return true;
  }
  return false;
}

}  // namespace

bool prepare_thread_stacks() {
  known = static_cast<Known*>(own_pages(kKnown * sizeof(Known)));
  return known != nullptr;
}

void note_main_frame(uintptr_t frame, uintptr_t stack_end) {
  main_frame = frame;
  main_stack_end = stack_end;
}

void note_thread_start(Inside& in) {
  const uintptr_t self = reinterpret_cast<uintptr_t>(pthread_self());
  known_lock.lock();
  if (low_offset < 0) {
    ++in.thread().own_work;
    find_low_offset(self);
    --in.thread().own_work;
  }
  if (low_offset >= 0) {
    size_t slot = (self / kPage * 0x9e3779b1u) % kKnown;
    // A few tries: a stack that finds no room is scanned whole when it is dead.
    for (unsigned tries = 0; tries < 16; ++tries, slot = (slot + 1) % kKnown) {
      if (known[slot].thread_pointer != 0 && known[slot].thread_pointer != self) continue;
      known[slot] = {self, word_at(self, static_cast<size_t>(low_offset))};
      break;
    }
  }
  known_lock.unlock();
}

void dead_stack_ranges(const StopResult& threads, uintptr_t own_stack_pointer,
                       uintptr_t own_thread_pointer, const OwnVector<Mapping>& mappings,
                       OwnVector<Range>& dead) {
  below_stack_pointer(own_thread_pointer, own_stack_pointer, 0, mappings, dead);
  for (size_t i = 0; i < threads.threads.size(); ++i) {
    const StoppedThread& thread = threads.threads[i];
    below_stack_pointer(thread.thread_pointer, thread.stack_pointer, kRedZone, mappings, dead);
  }
  if (const Mapping* first = mapping_at(mappings, main_frame); first != nullptr && first->stack) {
    if (main_frame < main_stack_end && main_stack_end <= first->range.end) {
      dead.push({main_frame, main_stack_end});
    }
    if (first_thread_ended(threads)) dead.push({first->range.begin, main_frame});
  }
  if (low_offset < 0 || !threads.all_known) return;
  for (size_t i = 0; i < kKnown; ++i) {
    const Known& stack = known[i];
    if (stack.thread_pointer == 0) continue;
    const Mapping* mapping = mapping_at(mappings, stack.thread_pointer);
    if (mapping == nullptr || !mapping->readable ||
        in_use(stack, threads, own_stack_pointer, own_thread_pointer)) {
      continue;
    }
    // The place may have been given back and used for something else.
    const uintptr_t word = stack.thread_pointer + static_cast<size_t>(low_offset) * 8;
    if (word + 8 > mapping->range.end ||
        word_if_there(stack.thread_pointer, static_cast<size_t>(low_offset)) != stack.low) {
      continue;
    }
    dead.push({stack.low, stack.thread_pointer});
  }
}

}  // namespace plumb::rt
