// A growing array on Valgrind's own heap. No constructors run in a tool, so an
// instance is all zeros when it is empty; nothing is ever destroyed.
#pragma once

#include "valgrind/vg.h"

namespace plumb::vg {

template <typename T>
struct Vector {
  T* items;
  UInt count;
  UInt room;

  void reserve(UInt wanted) {
    if (wanted <= room) return;
    room = room == 0 ? 16 : room * 2;
    if (room < wanted) room = wanted;
    items = static_cast<T*>(VG_(realloc)("plumb", items, room * sizeof(T)));
  }
  T& push(const T& item) {
    reserve(count + 1);
    items[count] = item;
    return items[count++];
  }
  // Keeps the order.
  void insert(UInt at, const T& item) {
    reserve(count + 1);
    for (UInt i = count; i > at; --i) items[i] = items[i - 1];
    items[at] = item;
    ++count;
  }
  T pop() { return items[--count]; }
  T& operator[](UInt index) { return items[index]; }
  T& last() { return items[count - 1]; }
  T* begin() { return items; }
  T* end() { return items + count; }
  void clear() { count = 0; }
  void release() {
    VG_(free)(items);
    items = nullptr;
    count = room = 0;
  }
};

}  // namespace plumb::vg
