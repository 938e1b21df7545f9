// CASE: An optional with a raw owner in it is reset.
// EXPECT: lost 1 block 32 bytes
// GAP(cc): holder - what a library type holds is not named
// CAUSE: overwritten
#include <optional>

#include "../case.h"

struct Handle {
  char* raw;
};
std::optional<Handle> handle;

static void reset_handle() {
  handle = Handle{nullptr};  // LOSS handle.raw | handle
}

int main() {
  handle = Handle{new char[32]};  // ALLOC
  touch(handle->raw);             // USE
  reset_handle();
}
