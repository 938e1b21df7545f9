// Our own memory, and the list of where it is: the scan must not take what we
// wrote down about a block for a reference to it.
//
// Invariant: every mapping that this library makes goes through here, except
// pages that are meant to be roots (ordinary_pages).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::rt {

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  size_t size() const { return end - begin; }
};

inline constexpr size_t kPage = 4096;
inline constexpr uintptr_t page_down(uintptr_t address) { return address & ~(kPage - 1); }
inline constexpr uintptr_t page_up(uintptr_t address) {
  return (address + kPage - 1) & ~(kPage - 1);
}

// Zeroed, committed on first touch, left out of core dumps. Null when there is
// no room.
void* own_pages(size_t size);
void release_own_pages(void* address, size_t size);
// A part of a file, shared with whoever else has it mapped.
void* own_shared_pages(int file, uint64_t offset, size_t size);
// Zeroed pages that the scan treats like the program's own.
void* ordinary_pages(size_t size);

// Addresses that the tables and the scan will need, kept where they are limited: a program
// that has run out of them still gets its verdicts. The scan's are released when it begins.
void reserve_room();
void release_scan_room();

// Around a fork after which the child goes on with these tables: nobody is in
// the middle of a change.
void hold_own_memory();
void let_go_own_memory();

// Everything mapped above, and this library's code and data.
size_t own_range_count();
const Range* own_ranges();
const size_t* own_range_counter();
Range own_range(size_t index);
Range own_module();

// A growing array in own memory. Growth copies; a failed one loses the item and
// sets `failed`.
template <typename T>
class OwnVector {
 public:
  bool push(const T& item) {
    if (count_ == capacity_ && !grow()) return false;
    items_[count_++] = item;
    return true;
  }
  T& operator[](size_t index) { return items_[index]; }
  const T& operator[](size_t index) const { return items_[index]; }
  size_t size() const { return count_; }
  void clear() { count_ = 0; }
  void pop() { --count_; }
  void release() {
    if (items_ != nullptr) release_own_pages(items_, capacity_ * sizeof(T));
    items_ = nullptr;
    count_ = capacity_ = 0;
  }
  bool failed() const { return failed_; }
  T* begin() { return items_; }
  T* end() { return items_ + count_; }

 private:
  bool grow() {
    const size_t capacity = capacity_ == 0 ? 4 * kPage / sizeof(T) : capacity_ * 2;
    T* items = static_cast<T*>(own_pages(capacity * sizeof(T)));
    if (items == nullptr) {
      failed_ = true;
      return false;
    }
    for (size_t i = 0; i < count_; ++i) items[i] = items_[i];
    if (items_ != nullptr) release_own_pages(items_, capacity_ * sizeof(T));
    items_ = items;
    capacity_ = capacity;
    return true;
  }
  T* items_ = nullptr;
  size_t count_ = 0;
  size_t capacity_ = 0;
  bool failed_ = false;
};

}  // namespace plumb::rt
