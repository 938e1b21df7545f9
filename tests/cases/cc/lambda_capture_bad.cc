// CASE: A function object owns a block by a raw pointer and is replaced.
// EXPECT: lost 1 block 18 bytes
// CAUSE: holder-freed
#include <functional>

#include "../case.h"

std::function<void()> action;

static void install() {
  char* text = new char[18];  // ALLOC
  action = [text, more = 1L, again = 2L] { touch(text + (more - 1) + (again - 2)); };
  action();  // USE
}

static void remove_action() {
  action = nullptr;  // LOSS
}

int main() {
  install();
  remove_action();
}
