// CASE: An object with a virtual destructor is deleted while one of its members holds a block.
// EXPECT: lost 1 block 62 bytes
// GAP(cc): holder - freed by the compiler's function around the destructor, to which it is `this`
// CAUSE: holder-freed
#include "../case.h"

class Log {
 public:
  Log() : line_(new char[62]), name_(new char[8]) {}  // ALLOC
  virtual ~Log() { delete[] name_; }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  virtual void write() { touch(line_); }

 private:
  char* line_;
  char* name_;
};

static void drop(Log* log) {
  log->write();  // USE
  delete log;    // LOSS log->line_
}

int main() { drop(new Log); }
