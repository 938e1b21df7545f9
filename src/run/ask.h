// Asks the runtime inside a running program for what is lost at this moment.
//
// The program stands still while the answer is read, and goes on afterwards,
// whatever went wrong with the reading.
#pragma once

#include <sys/types.h>

#include <functional>
#include <thread>
#include "base/result.h"

#include "run/launch.h"
#include "trace/record_reader.h"

namespace plumb {

// The header of a trace as both sides see it.
class SharedHeader {
 public:
  explicit SharedHeader(int fd);
  ~SharedHeader();
  SharedHeader(const SharedHeader&) = delete;
  SharedHeader& operator=(const SharedHeader&) = delete;

  PlumbTraceHeader* get() const;  // null: no memory for it

 private:
  void* map_;
};

// Fails when there was no answer in time: the program is just ending, or does not
// let signals through.
Result<Trace> ask_program(pid_t pid, const TraceMemory& memory);

// Whoever runs a program that may want its report by itself (PLUMB_REPORT_NOW). From
// start() to stop(), which is not before the program has ended, `told` is called on a
// thread of its own with what is lost at the moment; the program stands still meanwhile.
class ReportWishes {
 public:
  // To be made before the program is started, or it finds nobody.
  ReportWishes(const TraceMemory& memory, std::function<void(const Trace&)> told);
  ~ReportWishes();
  ReportWishes(const ReportWishes&) = delete;
  ReportWishes& operator=(const ReportWishes&) = delete;

  void start();
  void stop();

 private:
  void serve();

  const TraceMemory& memory_;
  SharedHeader header_;
  std::function<void(const Trace&)> told_;
  std::thread thread_;
};

}  // namespace plumb
