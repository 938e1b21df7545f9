// CASE: The destructor frees.
// EXPECT: none
#include "../case.h"

class Log {
 public:
  Log() : line_(new char[70]) {}
  void write() { touch(line_); }
  ~Log() { delete[] line_; }

 private:
  char* line_;
};

static void use() {
  Log log;
  log.write();
}

int main() { use(); }
