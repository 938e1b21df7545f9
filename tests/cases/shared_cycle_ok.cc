// CASE: Two objects know each other, one of them weakly.
// EXPECT: none
#include <memory>

#include "case.h"

struct Node {
  std::shared_ptr<Node> other;
  std::weak_ptr<Node> back;
  long value = 1;
};

static void meet() {
  auto one = std::make_shared<Node>();
  auto two = std::make_shared<Node>();
  one->other = two;
  two->back = one;
  touch(one.get());
  touch(two.get());
}

int main() { meet(); }
