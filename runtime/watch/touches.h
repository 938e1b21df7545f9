// Which pages of the arena were touched since the last look.
//
// Dropping the page-table entries of a shared mapping (MADV_DONTNEED) loses
// nothing: the next access, from the program or from the kernel on its behalf,
// is a minor fault that puts the entry back, and /proc/self/pagemap shows it.
// No signal, no failing system call, no rights needed.
//
// Limits: touches in the moment between look and drop are lost; what a device
// writes by itself into pages that it holds is not seen.
//
// Only for the watching thread: its descriptors are its own (watcher.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::rt {

class Touches {
 public:
  // Opens the page map and tries on one window whether a touch shows. False:
  // this kernel does not show them.
  bool prepare(uintptr_t sample_page);

  // One epoch: tells the model about every touch, then drops the entries.
  void collect();

 private:
  bool read(uintptr_t address, size_t pages);
  bool is_present(size_t page) const { return (entries_[page] >> 63) != 0; }

  int file_ = -1;
  uint64_t* entries_ = nullptr;  // of one chunk
};

}  // namespace plumb::rt
