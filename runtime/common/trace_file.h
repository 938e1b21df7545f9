// The trace (trace/record.h) as this process has it mapped.
//
// The sections are laid out once, generously: the file has holes, so room that
// is not used costs addresses only. Where the address space is limited
// (ulimit -v), the sections are smaller in proportion.
#pragma once

#include <stdint.h>

#include "trace/record.h"

namespace plumb::rt {

class TraceFile {
 public:
  // Takes over the descriptor and closes it. False: no trace, stay out.
  bool open(int file, unsigned stack_depth);
  // The same in memory of our own, of which a forked child has its own copy.
  bool open_private(uint64_t room, unsigned stack_depth);

  // Writes what is in use into the file, for a process that will be forked.
  bool copy_to(int file);
  // In that process: goes on in the copy, at the same addresses.
  bool move_to(int file);

  PlumbTraceHeader& header() { return *header_; }
  PlumbThread* threads() { return threads_; }
  PlumbModule* modules() { return modules_; }
  char* strings() { return strings_; }
  uint64_t* stack_words() { return stack_words_; }
  PlumbBlock* blocks() { return blocks_; }
  PlumbWatched* watched() { return watched_; }
  template <typename T>
  T* items(PlumbSectionKind kind) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(header_) + header_->sections[kind].offset);
  }

  // Takes `count` items of a section; returns the first, or 0 when full. (All
  // sections keep item 0 for "none".)
  uint64_t take(PlumbSectionKind kind, uint64_t count);

  void limit(uint32_t bit) { __atomic_fetch_or(&header_->limits, bit, __ATOMIC_RELAXED); }
  void fail(uint32_t phase, uint32_t problem, const char* text);

 private:
  bool lay_out(uint64_t room, int file, unsigned stack_depth);

  PlumbTraceHeader* header_ = nullptr;
  uint64_t size_ = 0;  // of the mapping
  PlumbThread* threads_ = nullptr;
  PlumbModule* modules_ = nullptr;
  char* strings_ = nullptr;
  uint64_t* stack_words_ = nullptr;
  PlumbBlock* blocks_ = nullptr;
  PlumbWatched* watched_ = nullptr;
};

TraceFile& trace();

}  // namespace plumb::rt
