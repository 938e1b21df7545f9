// A jump is written over the beginning of the function. It leads to a function of
// ours that calls the original, whose first instructions were moved elsewhere, and
// sees arguments and result.
//
// The jump reaches 2 GB only, so a page near the function has the way to ours, and
// the moved instructions.
// Limits: functions with more than six arguments, or with floating ones; functions
// that begin with a jump or a call; calls that were inlined.

#include "preload/divert.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "common/annotations.h"
#include "common/inside.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/sys.h"
#include "common/trace_file.h"
#include "preload/export.h"
#include "preload/instruction.h"

namespace plumb::rt {

namespace {

Diversion wishes[kMaxDiversions];
unsigned count = 0;

constexpr unsigned kJump = 5;
constexpr unsigned kLongestMoved = 32;
constexpr uintptr_t kReach = uintptr_t{1} << 30;

// jmp *0(%rip), then the address.
unsigned put_far_jump(uint8_t* at, uintptr_t to) {
  const uint8_t code[6] = {0xff, 0x25, 0, 0, 0, 0};
  memcpy(at, code, sizeof code);
  memcpy(at + sizeof code, &to, sizeof to);
  return sizeof code + sizeof to;
}

uint8_t* page_near(uintptr_t address) {
  constexpr uintptr_t kStep = uintptr_t{1} << 20;
  for (uintptr_t away = kStep; away < kReach; away += kStep) {
    const uintptr_t places[] = {address - away, address + away};
    for (const uintptr_t at : places) {
      if (at < kStep || at >> 47 != 0) continue;
      const long place = sys_mmap(reinterpret_cast<void*>(page_down(at)), kPage,
                                  PROT_READ | PROT_WRITE | PROT_EXEC,
                                  MAP_PRIVATE | MAP_ANONYMOUS | 0x100000 /* no replacing */, -1, 0);
      if (!is_error(place)) return reinterpret_cast<uint8_t*>(place);
    }
  }
  return nullptr;
}

bool protect(uintptr_t address, int protection) {
  const uintptr_t begin = page_down(address);
  const uintptr_t end = page_up(address + kJump);
  return !is_error(
      sys_call(SYS_mprotect, static_cast<long>(begin), static_cast<long>(end - begin), protection));
}

void begin_block(uintptr_t address, uint64_t size, uintptr_t caller) {
  Inside in;
  if (!tracking() || !in.outermost() || address == 0) return;
  const AnnotationCaller from{0, caller};
  CustomBlock custom{};
  if (take_custom(in, address, custom)) custom_ends(in, custom, from);
  custom = {};
  custom.address = address;
  custom.size = size;
  custom.ignored = in.thread().ignoring != 0;
  custom_begins(in, custom, from);
  if (add_custom(in, custom)) return;
  custom_ends(in, custom, from);
  trace().limit(PLUMB_LIMIT_CUSTOM_FULL);
}

void end_block(uintptr_t address, uintptr_t caller) {
  Inside in;
  CustomBlock custom{};
  if (!tracking() || !in.outermost() || !take_custom(in, address, custom)) return;
  custom_ends(in, custom, {0, caller});
}

}  // namespace

extern "C" {

__attribute__((used, visibility("hidden"))) void* plumb_rt_originals[kMaxDiversions];

__attribute__((used, visibility("hidden"))) void plumb_rt_before(uint32_t index,
                                                                 const uint64_t* arguments,
                                                                 uintptr_t caller) {
  const Diversion& wish = wishes[index];
  if (wish.frees) end_block(arguments[wish.argument - 1], caller);
}
__attribute__((used, visibility("hidden"))) void plumb_rt_after(uint32_t index,
                                                                const uint64_t* arguments,
                                                                uintptr_t caller,
                                                                uintptr_t result) {
  const Diversion& wish = wishes[index];
  if (!wish.frees) begin_block(result, arguments[wish.argument - 1], caller);
}

#define PLUMB_PUSH(name) "pushq %" #name "\n\t.cfi_adjust_cfa_offset 8\n\t"
#define PLUMB_DIVERTED(number)                                                                        \
  __attribute__((naked, used, visibility("hidden"))) void plumb_rt_diverted_##number() {              \
    __asm__(PLUMB_PUSH(r9) PLUMB_PUSH(r8) PLUMB_PUSH(rcx) PLUMB_PUSH(rdx) PLUMB_PUSH(rsi) PLUMB_PUSH( \
        rdi) "subq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\t"                                          \
             "movl $" #number                                                                         \
             ", %edi\n\tleaq 8(%rsp), %rsi\n\tmovq 56(%rsp), %rdx\n\t"                                \
             "call plumb_rt_before\n\t"                                                               \
             "movq 8(%rsp), %rdi\n\tmovq 16(%rsp), %rsi\n\tmovq 24(%rsp), %rdx\n\t"                   \
             "movq 32(%rsp), %rcx\n\tmovq 40(%rsp), %r8\n\tmovq 48(%rsp), %r9\n\t"                    \
             "xorl %eax, %eax\n\tcall *plumb_rt_originals+8*" #number                                 \
             "(%rip)\n\t"                                                                             \
             "movq %rax, (%rsp)\n\t"                                                                  \
             "movl $" #number                                                                         \
             ", %edi\n\tleaq 8(%rsp), %rsi\n\tmovq 56(%rsp), %rdx\n\t"                                \
             "movq %rax, %rcx\n\tcall plumb_rt_after\n\t"                                             \
             "movq (%rsp), %rax\n\taddq $56, %rsp\n\t.cfi_adjust_cfa_offset -56\n\tret");             \
  }
PLUMB_DIVERTED(0)
PLUMB_DIVERTED(1)
PLUMB_DIVERTED(2)
PLUMB_DIVERTED(3)
PLUMB_DIVERTED(4)
PLUMB_DIVERTED(5)
PLUMB_DIVERTED(6)
PLUMB_DIVERTED(7)
PLUMB_DIVERTED(8)
PLUMB_DIVERTED(9)
PLUMB_DIVERTED(10)
PLUMB_DIVERTED(11)
PLUMB_DIVERTED(12)
PLUMB_DIVERTED(13)
PLUMB_DIVERTED(14)
PLUMB_DIVERTED(15)

}  // extern "C"

namespace {

void (*const kDiverted[kMaxDiversions])() = {
    plumb_rt_diverted_0,  plumb_rt_diverted_1,  plumb_rt_diverted_2,  plumb_rt_diverted_3,
    plumb_rt_diverted_4,  plumb_rt_diverted_5,  plumb_rt_diverted_6,  plumb_rt_diverted_7,
    plumb_rt_diverted_8,  plumb_rt_diverted_9,  plumb_rt_diverted_10, plumb_rt_diverted_11,
    plumb_rt_diverted_12, plumb_rt_diverted_13, plumb_rt_diverted_14, plumb_rt_diverted_15};

}  // namespace

uintptr_t executable_bias() {
  const uintptr_t headers = getauxval(AT_PHDR);
  const auto* header = reinterpret_cast<const ElfW(Phdr)*>(headers);
  for (unsigned long i = 0; i < getauxval(AT_PHNUM); ++i) {
    if (header[i].p_type == PT_PHDR) return headers - header[i].p_vaddr;
  }
  return 0;
}

bool divert(const Diversion& wish) {
  if (count == kMaxDiversions || wish.argument < 1 || wish.argument > 6) return false;
  uintptr_t address = wish.address;
  if (address == 0) address = reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, wish.name));
  if (address == 0) return false;
  auto* code = reinterpret_cast<uint8_t*>(address);
  unsigned moved = 0;
  unsigned relative[kJump] = {};
  unsigned relative_count = 0;
  while (moved < kJump) {
    const Movable next = movable(code + moved);
    if (next.length == 0 || moved + next.length > kLongestMoved) return false;
    if (next.relative != 0) relative[relative_count++] = moved + next.relative;
    const bool is_end = code[moved] == 0xc3;
    moved += next.length;
    if (is_end && moved < kJump) return false;  // what comes behind it is another's
  }
  uint8_t* page = page_near(address);
  if (page == nullptr || !protect(address, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  const unsigned index = count++;
  wishes[index] = wish;
  uint8_t* original = page + put_far_jump(page, reinterpret_cast<uintptr_t>(kDiverted[index]));
  memcpy(original, code, moved);
  for (unsigned i = 0; i < relative_count; ++i) {
    int32_t away = 0;
    memcpy(&away, original + relative[i], sizeof away);
    away += static_cast<int32_t>(code - original);  // the page is near
    memcpy(original + relative[i], &away, sizeof away);
  }
  put_far_jump(original + moved, address + moved);
  plumb_rt_originals[index] = original;
  const int32_t distance = static_cast<int32_t>(reinterpret_cast<intptr_t>(page) -
                                                static_cast<intptr_t>(address + kJump));
  code[0] = 0xe9;
  memcpy(code + 1, &distance, sizeof distance);
  protect(address, PROT_READ | PROT_EXEC);
  sys_call(SYS_mprotect, reinterpret_cast<long>(page), static_cast<long>(kPage),
           PROT_READ | PROT_EXEC);
  return true;
}

}  // namespace plumb::rt
