#include "common/own_stack.h"

#include "common/memory.h"

namespace plumb::rt {

namespace {

constexpr size_t kSize = 256 << 10;
Range stack{};

// rdi: the stack's end, rsi: work, rdx: argument.
__attribute__((naked)) void switch_and_call(uintptr_t, void (*)(void*), void*) {
  __asm__(
      "pushq %rbp\n\t"
      "movq %rsp, %rbp\n\t"
      "movq %rdi, %rsp\n\t"
      "movq %rdx, %rdi\n\t"
      "call *%rsi\n\t"
      "movq %rbp, %rsp\n\t"
      "popq %rbp\n\t"
      "ret");
}

}  // namespace

void run_on_own_stack(void (*work)(void*), void* argument) {
  void* pages = is_on_own_stack() ? nullptr : own_pages(kSize);
  if (pages == nullptr) return work(argument);
  const auto begin = reinterpret_cast<uintptr_t>(pages);
  stack = {begin, begin + kSize};
  switch_and_call(stack.end, work, argument);
  stack = {};
  release_own_pages(pages, kSize);
}

bool is_on_own_stack() {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here - stack.begin < stack.size();
}

}  // namespace plumb::rt
