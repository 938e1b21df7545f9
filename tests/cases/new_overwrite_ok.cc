// CASE: An object made by new is deleted before its pointer is overwritten.
// EXPECT: none
#include "case.h"

struct Point {
  long x, y;
};

static void move() {
  Point* point = new Point{1, 2};
  touch(point);
  delete point;
  point = new Point{3, 4};
  touch(point);
  delete point;
}

int main() { move(); }
