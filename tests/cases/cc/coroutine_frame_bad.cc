// CASE: A coroutine is destroyed while one of its variables holds a block.
// EXPECT: lost 1 block 58 bytes
// GAP(cc, -O2): holder, cause - the variable is a part of the freed frame, which has no names
// GAP(cc, -O2): place - the frame is freed by code of the compiler's own, which has the line of the function
// CAUSE: scope-end
// FLAGS: -std=c++20
#include <coroutine>
#include <memory>

#include "../case.h"

struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

static Task work() {
  char* data = new char[58];  // ALLOC
  touch(data);                // USE
  co_await std::suspend_always{};  // LOSS data
  touch(data);
  delete[] data;
}

int main() {
  Task task = work();
  task.handle.destroy();  // LOSS data
}
