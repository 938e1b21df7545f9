// CASE: A std::function carries a raw pointer and is replaced.
// EXPECT: lost 1 block 32 bytes
// CAUSE: overwritten
// GAP(cc, -O0): place, function - std::function keeps the bytes of what it held until it is replaced
// GAP(cc, -O2): place, function, cause, holder - copies the bytes as numbers, whose drops are not marked
// GAP(run): function, place - a std::function that is set to nothing keeps its bytes until it is set again
// GAP(run, -O0): cause - a std::function that is set to nothing keeps its bytes until it is set again
// GAP(run, -O2): use - in the optimised code the variable is part of the function that it was inlined into
// GAP(run, -O2, gcc): cause - in the optimised code the variable is part of the function that it was inlined into
// GAP(check): found - what a std::function holds is not followed
#include <functional>

#include "case.h"

static std::function<void()> g_action;

static void arm() {
  char* state = new char[32];  // ALLOC
  state[0] = 's';
  g_action = [state] { touch(state); };  // USE
}

static void disarm() {
  g_action = nullptr;  // LOSS
}

static void replace() {
  g_action = [] {};
}

int main() {
  arm();
  g_action();
  disarm();
  replace();
}
