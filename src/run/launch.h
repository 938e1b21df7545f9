// Starts the program with a runtime preloaded, and waits for its end.
//
// The program keeps its standard streams, its process group and its terminal.
// Signals sent to us are passed on; those that the terminal sends to everybody
// (^C) reach the program by themselves, and we outlive them to write the report.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace plumb {

// The memory that the runtime writes its trace into. It lives as long as this.
class TraceMemory {
 public:
  static Result<TraceMemory> create();
  TraceMemory(TraceMemory&& other) noexcept;
  TraceMemory& operator=(TraceMemory&& other) noexcept;
  ~TraceMemory();

  int fd() const { return fd_; }
  // Mapped on first use; holes cost nothing.
  Result<std::span<const std::byte>> bytes();

 private:
  TraceMemory() = default;
  int fd_ = -1;
  void* map_ = nullptr;
  std::size_t size_ = 0;
};

struct Launch {
  std::string program;               // path
  std::vector<std::string> command;  // with argv[0] as the user wrote it
  std::string runtime;               // library to preload
  unsigned stack_depth = 30;
  bool scrub = true;
  // What the runtime is told instead of the two above, when it writes its
  // records by itself.
  std::string settings = {};
};

struct Ended {
  pid_t pid = 0;
  int wait_status = 0;
  std::chrono::system_clock::time_point started;
  double seconds = 0;
};

// Fails when the program could not be started.
Result<Ended> launch_and_wait(const Launch& launch, const TraceMemory& trace);
// For a runtime that needs no trace memory.
Result<Ended> launch_and_wait(const Launch& launch);

// The environment of the program, as "NAME=VALUE": ours plus the runtime. The
// runtime takes its own variables out again before the program can see them.
std::vector<std::string> runtime_environment(const char* const* environment, const Launch& launch,
                                             int trace_fd);

}  // namespace plumb
