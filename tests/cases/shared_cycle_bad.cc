// CASE: Two objects hold each other by shared_ptr.
// EXPECT: lost 1 block 40 bytes, indirect 1 block 40 bytes
// CAUSE: scope-end
// GAP(check): found - counted references are not followed
#include <memory>

#include "case.h"

struct Node {
  std::shared_ptr<Node> other;
  long value = 1;
};

static void meet() {
  auto one = std::make_shared<Node>();  // ALLOC
  auto two = std::make_shared<Node>();  // ALLOC
  one->other = two;
  two->other = one;
  touch(one.get());
  touch(two.get());  // USE
}  // USE; LOSS one | two

int main() { meet(); }
