// CASE: An object is deleted by its base, whose destructor is virtual.
// EXPECT: none
#include "case.h"

struct Shape {
  long kind = 1;
  virtual ~Shape() = default;
};

struct Polygon : Shape {
  Polygon() : corners(new char[50]) {}
  ~Polygon() override { delete[] corners; }
  char* corners;
};

static void draw() {
  Polygon* polygon = new Polygon;
  polygon->corners[0] = 'c';
  touch(polygon->corners);
  Shape* shape = polygon;
  delete shape;
}

int main() { draw(); }
