// CASE: A class allocates in its constructor and has no destructor.
// EXPECT: lost 1 block 70 bytes
// CAUSE: scope-end
#include "../case.h"

class Log {
 public:
  Log() : line_(new char[70]) {}  // ALLOC
  void write() { touch(line_); }

 private:
  char* line_;
};

static void use() {
  Log log;
  log.write();  // USE
}  // LOSS log.line_

int main() { use(); }
