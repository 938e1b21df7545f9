// Starts the program with a runtime preloaded, and waits for its end.
//
// The program keeps its standard streams, its process group and its terminal.
// Signals sent to us are passed on; those that the terminal sends to everybody
// (^C) reach the program by themselves, and we outlive them to write the report.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/report.h"

namespace plumb {

// The memory that the runtime writes its trace into. It lives as long as this.
class TraceMemory {
 public:
  static Result<TraceMemory> create();
  // Memory with this content, for the runtime to read.
  static Result<TraceMemory> with(std::string_view content);
  TraceMemory(TraceMemory&& other) noexcept;
  TraceMemory& operator=(TraceMemory&& other) noexcept;
  ~TraceMemory();

  int fd() const { return fd_; }
  // The same memory, mapped by itself: it may have grown.
  Result<TraceMemory> second_look() const;
  // Memory that a file has.
  static Result<TraceMemory> of_file(const std::string& path);
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
  bool quick_stacks = false;  // see RunOptions
  bool scrub = true;
  std::uint64_t pointer_mask = 0;  // 0: words are references as they are
  // What the runtime is told instead of the above, when it writes its records by
  // itself.
  std::string settings = {};
  std::string more_settings = {};               // each begins with a colon
  std::vector<std::string> more_preloads = {};  // before the runtime
  std::vector<std::string> more_variables = {};

  // Called while the program runs: every so many seconds, and when SIGUSR1 is sent to
  // us, which then is not passed on.
  std::function<void(pid_t)> look;
  double look_every = 0;  // 0: only when asked

  // Under the Valgrind tool:
  std::string tool_folder;  // where the tool is; empty: natively
  int wants = -1;           // descriptor of the list of allocations to watch
  bool quiet = false;       // output goes nowhere: it was seen before
  bool no_input = false;    // nothing to read; the tool ends the run when it is read
  bool uses = true;         // the last access to each block is noted
  double limit = 0;         // seconds; then it is killed
  // At the moment of a loss, instead of at the end: "report-now", "stop", "abort" or
  // "gdb"; empty: nothing. The tool tells it on our standard error.
  std::string on_leak = {};
  std::uint64_t leak_threshold = 1;  // bytes that must be lost for it

  // Called when it runs, and as soon as it has ended.
  std::function<void(pid_t)> on_start = {};
  std::function<void()> on_end = {};
};

// How a program ended, as a report says it.
Status status_of(int wait_status);

struct Ended {
  pid_t pid = 0;
  int wait_status = 0;
  std::chrono::system_clock::time_point started;
  double seconds = 0;
  bool from_outside = false;  // a signal was sent to it through us, or by the terminal
  bool over_limit = false;
};

// Fails when the program could not be started.
Result<Ended> launch_and_wait(const Launch& launch, const TraceMemory& trace);
// For a runtime that needs no trace memory.
Result<Ended> launch_and_wait(const Launch& launch);

// The environment of the program, as "NAME=VALUE": ours plus the runtime. The
// runtime takes its own variables out again before the program can see them.
std::vector<std::string> runtime_environment(const char* const* environment, const Launch& launch,
                                             int trace_fd, int wants_fd = -1);

}  // namespace plumb
