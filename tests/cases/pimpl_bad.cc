// CASE: A class with a raw pointer to its parts has no destructor.
// EXPECT: lost 1 block 56 bytes
// CAUSE: scope-end
// GAP(run, -O2, gcc): holder - the debug information has no variable there
#include "case.h"

class Window {
  struct Parts {
    long cells[7];
  };

 public:
  Window() : parts_(new Parts{{7}}) {}  // WRAPPER
  void show() const { touch(parts_); }  // USE

 private:
  Parts* parts_;
};

static void open_window() {
  Window window;  // ALLOC
  window.show();  // USE
}  // LOSS window.parts_

int main() { open_window(); }
