// CASE: An exception leaves a function whose local object owns nothing but points.
// EXPECT: lost 1 block 36 bytes
// CAUSE: escaped-throw
#include <memory>
#include <stdexcept>

#include "../case.h"

struct View {
  char* data = nullptr;
};

static void parse(const char* text) {
  touch(text);
  if (opaque(1)) throw std::runtime_error("bad");
}

static void load() {
  View view;
  view.data = new char[36];  // ALLOC
  parse(view.data);          // LOSS view.data
}

int main() {
  try {
    load();
  } catch (const std::runtime_error&) {
  }
}
