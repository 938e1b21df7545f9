// CASE: A class with a raw pointer to its parts deletes them.
// EXPECT: none
#include "case.h"

class Window {
  struct Parts {
    long cells[7];
  };

 public:
  Window() : parts_(new Parts{{7}}) {}
  ~Window() { delete parts_; }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  void show() const { touch(parts_); }

 private:
  Parts* parts_;
};

static void open_window() {
  Window window;
  window.show();
}

int main() { open_window(); }
