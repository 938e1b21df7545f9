// CASE: An object is deleted by its base, whose destructor is empty.
// EXPECT: lost 1 block 50 bytes
// CAUSE: holder-freed
#include "case.h"

struct Shape {
  long kind = 1;
};

struct Polygon : Shape {
  Polygon() : corners(new char[50]) {}  // WRAPPER
  ~Polygon() { delete[] corners; }
  char* corners;
};

static void draw() {
  Polygon* polygon = new Polygon;  // ALLOC
  polygon->corners[0] = 'c';
  touch(polygon->corners);                          // USE
  ::operator delete(static_cast<Shape*>(polygon));  // LOSS polygon->corners
}

int main() { draw(); }
