// CASE: A pointer to an object made by new is overwritten.
// EXPECT: lost 1 block 16 bytes
// CAUSE: overwritten
#include "case.h"

struct Point {
  long x, y;
};

static void move() {
  Point* point = new Point{1, 2};  // ALLOC
  touch(point);                    // USE
  point = new Point{3, 4};         // LOSS point
  touch(point);
  delete point;
}

int main() { move(); }
