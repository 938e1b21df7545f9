// CASE: What it holds is deleted first.
// EXPECT: none
#include <vector>

#include "../case.h"

std::vector<long*> all;

static void fill() {
  for (long i = 0; i < 2; i++) all.push_back(new long(i));
}

static void drop_all() {
  for (long* one : all) delete one;
  std::vector<long*>().swap(all);
}

int main() {
  fill();
  drop_all();
}
