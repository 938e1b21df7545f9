// Freed by destructors of statics and of thread_locals: reachable until then,
// and not lost. Lost: what a static vector owns without deleting it (3 of 16
// bytes), and a cycle of shared pointers (1 leader, 1 held).
#include <memory>
#include <string>
#include <vector>

#include "leak.h"

namespace {

struct Node {
  std::shared_ptr<Node> other;
  long payload[4];
};

std::vector<std::unique_ptr<std::string>> owned;
std::vector<long *> pointers;
thread_local std::vector<int> local(100);

}  // namespace

__attribute__((noinline)) void work() {
  for (int i = 0; i < 10; ++i) owned.push_back(std::make_unique<std::string>(100, 'x'));
  local.push_back(1);
  for (int i = 0; i < 3; ++i) pointers.push_back(new long[2]);
  if (kClean) {
    for (long *pointer : pointers) delete[] pointer;
  }
  auto a = std::make_shared<Node>();
  a->other = std::make_shared<Node>();
  if (!kClean) a->other->other = a;
}

int main() {
  work();
  scrub();
}
