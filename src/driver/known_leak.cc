#include "driver/known_leak.h"

#include <cstdlib>
#include <cstring>

namespace plumb {

namespace {

void* volatile kept = nullptr;

[[gnu::noinline]] void lose_two_blocks() {
  void** holder = static_cast<void**>(std::malloc(kLostBytes));
  if (holder == nullptr) return;
  holder[0] = std::malloc(kHangingBytes);
  // Known to the compiler only as "used": it may not drop the calls.
  asm volatile("" : : "r"(holder) : "memory");
}

// What a dead frame leaves on the stack would still look like a reference.
[[gnu::noinline]] void wipe_stack() {
  char room[16384];
  std::memset(room, 0, sizeof room);
  asm volatile("" : : "r"(room) : "memory");
}

}  // namespace

void make_known_leaks() {
  kept = std::malloc(kForgottenBytes);
  lose_two_blocks();
  wipe_stack();
}

}  // namespace plumb
