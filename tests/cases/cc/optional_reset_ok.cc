// CASE: The owner is deleted first.
// EXPECT: none
#include <optional>

#include "../case.h"

struct Handle {
  char* raw;
};
std::optional<Handle> handle;

static void reset_handle() {
  delete[] handle->raw;
  handle = Handle{nullptr};
}

int main() {
  handle = Handle{new char[32]};
  touch(handle->raw);
  reset_handle();
}
