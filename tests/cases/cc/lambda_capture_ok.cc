// CASE: It is freed before the replacement.
// EXPECT: none
#include <functional>

#include "../case.h"

std::function<void()> action;

static void install() {
  char* text = new char[18];
  action = [text, more = 1L, again = 2L] { touch(text + (more - 1) + (again - 2)); };
  action();
  delete[] text;
}

static void remove_action() { action = nullptr; }

int main() {
  install();
  remove_action();
}
