// PLUMB_CHECK: an invariant of our own code. It is on in every build, since a
// wrong report is worse than none.
#pragma once

namespace plumb {
[[noreturn]] void check_failed(const char* file, int line, const char* condition);
}  // namespace plumb

#define PLUMB_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::plumb::check_failed(__FILE__, __LINE__, #condition))
