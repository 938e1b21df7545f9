// CASE: A std::function owns what it carries and is replaced.
// EXPECT: none
#include <functional>
#include <memory>

#include "case.h"

static std::function<void()> g_action;

static void arm() {
  std::shared_ptr<char> state(new char[32], std::default_delete<char[]>());
  *state = 's';
  g_action = [state] { touch(state.get()); };
}

int main() {
  arm();
  g_action();
  g_action = nullptr;
}
