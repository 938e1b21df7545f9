#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace plumb {

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "plumb: internal error: %s:%d: %s\n  hint: please report this\n", file, line,
               condition);
  std::abort();
}

}  // namespace plumb
