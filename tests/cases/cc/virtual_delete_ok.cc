// CASE: A virtual destructor frees what the members hold.
// EXPECT: none
#include "../case.h"

class Log {
 public:
  Log() : line_(new char[62]), name_(new char[8]) {}
  virtual ~Log() {
    delete[] name_;
    delete[] line_;
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  virtual void write() { touch(line_); }

 private:
  char* line_;
  char* name_;
};

static void drop(Log* log) {
  log->write();
  delete log;
}

int main() { drop(new Log); }
