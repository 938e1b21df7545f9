// How a function that scans on demand is entered: with all registers of its
// caller that it would have to keep, and the caller's stack pointer, at hand.
#pragma once

#include <stdint.h>

#include "common/scan.h"

namespace plumb::rt {

// As PLUMB_SAVED_ENTRY pushes them.
struct SavedEntry {
  uint64_t argument;
  uint64_t registers[6];
  uint64_t return_address;
};

inline ScanPoint point_of(SavedEntry& saved) {
  const uintptr_t words = reinterpret_cast<uintptr_t>(saved.registers);
  return {reinterpret_cast<uintptr_t>(&saved + 1), {words, words + sizeof saved.registers}, {}};
}

// The body of a naked function: calls target(first argument, SavedEntry*) and
// returns what it returns. Unwinders must be able to pass.
#define PLUMB_SAVED_PUSH(name) "pushq %" #name "\n\t.cfi_adjust_cfa_offset 8\n\t"
#define PLUMB_SAVED_POP(name) "popq %" #name "\n\t.cfi_adjust_cfa_offset -8\n\t"
#define PLUMB_SAVED_ENTRY(target)                                                                 \
  __asm__(PLUMB_SAVED_PUSH(rbp) PLUMB_SAVED_PUSH(rbx) PLUMB_SAVED_PUSH(r12) PLUMB_SAVED_PUSH(r13) \
              PLUMB_SAVED_PUSH(r14) PLUMB_SAVED_PUSH(r15) PLUMB_SAVED_PUSH(                       \
                  rdi) "movq %rsp, %rsi\n\tcall " #target "\n\t" PLUMB_SAVED_POP(rdi)             \
                  PLUMB_SAVED_POP(r15) PLUMB_SAVED_POP(r14) PLUMB_SAVED_POP(r13)                  \
                      PLUMB_SAVED_POP(r12) PLUMB_SAVED_POP(rbx) PLUMB_SAVED_POP(rbp) "ret")

}  // namespace plumb::rt
