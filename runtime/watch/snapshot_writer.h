// A snapshot (trace/watch_record.h), put together in memory.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/watch_record.h"

namespace plumb::rt {

// What the watching thread adds to what the model knows.
struct SnapshotFacts {
  uint32_t phase = PLUMB_WATCH_RUNNING;
  uint64_t elapsed = 0;
  uint64_t started = 0;
  uint64_t epoch = 0;
  uint64_t epochs = 0;
  uint64_t own_time = 0;
  const char* problem = "";
};

class Snapshot {
 public:
  explicit Snapshot(const SnapshotFacts& facts);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  bool is_there() const { return begin_ != nullptr; }
  const char* data() const { return begin_; }
  size_t size() const { return size_; }

 private:
  template <typename T>
  T* section(PlumbWatchSectionKind kind, uint64_t count);
  void put_blocks();
  void put_trace();

  // What there is room for.
  struct Counts {
    uint32_t sites;
    uint32_t blocks;
    uint32_t frees;
  };
  Counts counts_{};

  char* begin_ = nullptr;
  size_t room_ = 0;
  size_t size_ = 0;
};

}  // namespace plumb::rt
