// The traces of a program and of the processes that it started, one file each in a
// folder that goes with the run.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/record_reader.h"

namespace plumb {

// A runtime was there and wrote a header.
bool is_attached(std::span<const std::byte> bytes);

class TraceFolder {
 public:
  // In memory, where there is such a file system.
  static Result<TraceFolder> create();
  TraceFolder(TraceFolder&& other) noexcept;
  TraceFolder& operator=(TraceFolder&&) = delete;
  ~TraceFolder();
  const std::string& path() const { return path_; }

  // Those of the process `first` come first, the others by process and time.
  std::vector<Trace> traces(pid_t first, std::size_t& unreadable) const;

 private:
  explicit TraceFolder(std::string path);
  std::string path_;
};

}  // namespace plumb
