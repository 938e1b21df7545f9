// The runtime of `plumb cc` under ThreadSanitizer: 64 threads that allocate, grow, hand
// on, free and drop blocks, come and go: threads_test SECONDS. No race, and at the end
// exactly the blocks are left that were not freed, each of them with its drop.
//
// The scan is not part of it: it would take ThreadSanitizer's memory for the program's.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "compiled/tsan/tested.h"

namespace {

constexpr int kThreads = 64;
constexpr int kBoxes = 256;

struct Block {
  Block* next;
  char text[8];
};

std::atomic<Block*> boxes[kBoxes];
std::atomic<unsigned long> dropped;
std::atomic<bool> over;
std::atomic<int> races;

uint64_t next_random(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

Block* make(uint64_t& state) {
  const size_t size = sizeof(Block) + next_random(state) % 400;
  void* block = plumb_tested_malloc(size);
  memset(block, 0, size);
  if (next_random(state) % 8 == 0) block = plumb_tested_realloc(block, size + 300);
  return static_cast<Block*>(block);
}

void free_all(Block* block) {
  while (block != nullptr) {
    Block* next = block->next;
    plumb_tested_free(block);
    block = next;
  }
}

void work_for_a_while(uint64_t& state) {
  unsigned long lost = 0;
  for (int i = 0; i < 2000 && !over.load(std::memory_order_relaxed); ++i) {
    Block* block = make(state);
    if (next_random(state) % 4 == 0) block->next = make(state);
    Block* old = boxes[next_random(state) % kBoxes].exchange(block);
    if (old != nullptr && old->next == nullptr && next_random(state) % 256 == 0) {
      plumb_tested_drop(old);
      ++lost;
    } else if (old != nullptr && old->next != nullptr && next_random(state) % 64 == 0) {
      ++lost;  // what it holds goes with it
      plumb_tested_free(old);
    } else {
      free_all(old);
    }
  }
  dropped += lost;
}

void* work(void* argument) {
  uint64_t state = 88172645463325252u + 7919 * reinterpret_cast<uintptr_t>(argument);
  work_for_a_while(state);
  return nullptr;
}

}  // namespace

extern "C" void __tsan_on_report(void*) { ++races; }

int main(int count, char** arguments) {
  const int seconds = count > 1 ? atoi(arguments[1]) : 1;
  const time_t end = time(nullptr) + seconds;
  pthread_t threads[kThreads];
  uintptr_t started = 0;
  do {
    for (pthread_t& thread : threads) {
      pthread_create(&thread, nullptr, work, reinterpret_cast<void*>(started++));
    }
    for (pthread_t& thread : threads) pthread_join(thread, nullptr);
  } while (time(nullptr) < end);
  over = true;
  for (std::atomic<Block*>& box : boxes) free_all(box.exchange(nullptr));
  const unsigned long made = dropped;
  const unsigned long blocks = plumb_tested_blocks();
  const unsigned long with_drop = plumb_tested_dropped();
  printf("%lu threads: %lu lost, %lu left, %lu of them with a drop, %d races\n",
         static_cast<unsigned long>(started), made, blocks, with_drop, races.load());
  fflush(stdout);
  const bool good = blocks == made && with_drop == made && made > 0 && races == 0;
  // The report at the end would scan.
  syscall(SYS_exit_group, good ? 0 : 1);
}
