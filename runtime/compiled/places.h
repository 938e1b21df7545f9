// The places that the compiler knows: tables that the pass puts into each module
// (plugin/abi.h), numbered here one module after the other.
//
// A place is 8 bytes in section plumb_sites; its number is how many bytes it is
// into the row of all modules' tables. What it stands for is in the module's
// read-only data, found by relative addresses.
// Limit: numbers of modules that were unloaded are not used again, and what was
// lost in such a module has no place.
#pragma once

#include <stdint.h>

#include "common/inside.h"

// Relative addresses are from the field's own address; 0 is "none".
extern "C" {
struct PlumbSite {
  int32_t detail;
  uint32_t spare;
};
// What lies at an offset of something that a place is about (the fields of a
// structure that is freed).
struct PlumbMember {
  uint32_t offset;
  int32_t name;  // "->name", ".name", ""
};
struct PlumbDetail {
  int32_t function;
  int32_t linkage;
  int32_t file;
  uint32_t line;
  uint32_t column;
  int32_t holder;
  int32_t type;
  uint16_t storage;  // PlumbStorage
  uint16_t cause;    // PlumbCause
  int32_t caller;    // PlumbDetail of the call that this one was inlined at
  int32_t members;   // PlumbMember, `member_count` of them, by offset
  uint32_t member_count;
  uint32_t stride;  // not 0: elements of so many bytes
  // What the function did last with the pointer; line 0: not known.
  uint32_t use_line;
  uint32_t use_column;
  uint32_t use_what;  // PlumbUse
};
}

namespace plumb::rt {

template <typename T>
const T* follow(const int32_t& relative) {
  return relative == 0
             ? nullptr
             : reinterpret_cast<const T*>(reinterpret_cast<const char*>(&relative) + relative);
}

// The number of a place, or 0 when it is not in a known table.
uint32_t place_number(const PlumbSite* site);
// Null for a number that was never given.
const PlumbDetail* place_detail(uint32_t number);

}  // namespace plumb::rt
