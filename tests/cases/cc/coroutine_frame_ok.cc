// CASE: The variable is a unique_ptr.
// EXPECT: none
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
  auto owner = std::make_unique<char[]>(58);
  char* data = owner.get();
  touch(data);
  co_await std::suspend_always{};
  touch(data);
}

int main() {
  Task task = work();
  task.handle.destroy();
}
