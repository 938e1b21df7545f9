// CASE: A unique_ptr holds it.
// EXPECT: none
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
  auto owner = std::make_unique<char[]>(36);
  View view{owner.get()};
  parse(view.data);
}

int main() {
  try {
    load();
  } catch (const std::runtime_error&) {
  }
}
