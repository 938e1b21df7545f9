#include "common/threads.h"

#include <pthread.h>

#include "common/memory.h"
#include "common/sys.h"
#include "common/trace_file.h"

namespace plumb::rt {

thread_local constinit ThreadState thread_state{};
SpinLock SlotUse::shared_lock;

namespace {

ThreadSlot* slots = nullptr;
uint32_t slot_limit = 0;
uint32_t slots_used = 1;  // 1 is the shared one
uint32_t unused_slots = 0;
uint32_t thread_count = 0;
uint32_t last_owner = 1;  // of the shared slot
SpinLock slots_lock;
pthread_key_t end_key;

void count_thread() {
  trace().header().threads_started = __atomic_add_fetch(&thread_count, 1, __ATOMIC_RELAXED);
}

// Runs when the thread ends, before libc's own clean-up, which still frees.
void on_thread_end(void*) {
  Inside in;
  ThreadState& state = in.thread();
  ThreadSlot* slot = state.slot;
  if (slot == nullptr) return;
  state.slot = nullptr;
  state.quick = nullptr;
  state.ended = 1;
  slots_lock.lock();
  slot->next_slot = unused_slots;
  unused_slots = static_cast<uint32_t>(slot - slots);
  slots_lock.unlock();
}

}  // namespace

void SiteTable::clear() {
  if (numbers != nullptr) release_own_pages(numbers, capacity * sizeof(uint32_t));
  *this = {};
}

void forget_quick_sites(ThreadSlot& slot) {
  if (slot.quick == nullptr) return;
  sys_call(SYS_madvise, reinterpret_cast<long>(slot.quick), sizeof(QuickSites), MADV_DONTNEED);
  slot.quick->owner = slot.owner;
}

bool prepare_threads() {
  slot_limit = static_cast<uint32_t>(trace().header().sections[PLUMB_SECTION_THREADS].capacity);
  slots = static_cast<ThreadSlot*>(own_pages(slot_limit * sizeof(ThreadSlot)));
  if (slots == nullptr || trace().take(PLUMB_SECTION_THREADS, 1) != 1) return false;
  slots[1].counters = trace().threads() + 1;
  slots[1].owner = 1;
  return pthread_key_create(&end_key, on_thread_end) == 0;
}

void forget_sites_of_threads() {
  for (uint32_t i = 1; i <= slots_used; ++i) {
    slots[i].sites.clear();
    forget_quick_sites(slots[i]);
  }
}

void hold_threads() { slots_lock.lock(); }
void let_go_threads() { slots_lock.unlock(); }

ThreadSlot* SlotUse::attach(ThreadState& state) {
  if (state.ended == 0) {
    slots_lock.lock();
    uint32_t index = unused_slots;
    if (index != 0) {
      unused_slots = slots[index].next_slot;
    } else if (slots_used + 1 < slot_limit) {
      index = static_cast<uint32_t>(trace().take(PLUMB_SECTION_THREADS, 1));
      slots_used = index;
    }
    slots_lock.unlock();
    if (index != 0) {
      ThreadSlot& slot = slots[index];
      slot.counters = trace().threads() + index;
      count_thread();
      slot.thread = state.name;
      slot.names.clear();
      slot.sites.clear();
      slot.owner = __atomic_add_fetch(&last_owner, 1, __ATOMIC_RELAXED);
      forget_quick_sites(slot);
      if (slot.memos != nullptr) {  // of another thread's stack
        for (unsigned i = 0; i < kMemos; ++i) slot.memos[i].caller = 0;
        slot.last_stack = nullptr;
        slot.stack_top = 0;
      }
      state.slot = &slot;
      state.quick = slot.quick;
      // The value only has to be there for the destructor to run.
      pthread_setspecific(end_key, &slot);
      return &slot;
    }
    state.ended = 1;
  }
  shared_lock.lock();
  return &slots[1];
}

}  // namespace plumb::rt
