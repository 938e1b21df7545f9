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

}  // namespace

extern "C" {

__attribute__((used, visibility("hidden"))) void* plumb_rt_originals[kMaxDiversions];

__attribute__((used, visibility("hidden"))) void plumb_rt_before(uint32_t index,
                                                                 const uint64_t* arguments,
                                                                 uintptr_t caller) {
  const Diversion& wish = wishes[index];
  if (wish.frees) retract_block(arguments[wish.argument - 1], {0, caller});
}
__attribute__((used, visibility("hidden"))) void plumb_rt_after(uint32_t index,
                                                                const uint64_t* arguments,
                                                                uintptr_t caller,
                                                                uintptr_t result) {
  const Diversion& wish = wishes[index];
  if (!wish.frees) announce_block(0, result, arguments[wish.argument - 1], {0, caller});
}

// Callers in the same unit may know that the function keeps the stack unaligned or leaves
// registers alone that it need not leave alone: all of them are as it left them.
#define PLUMB_SAVE_VECTORS "fxsave64 (%rsp)\n\t"
#define PLUMB_RESTORE_VECTORS "fxrstor64 (%rsp)\n\t"
#define PLUMB_DIVERTED(number)                                                               \
  __attribute__((naked, used, visibility("hidden"))) void plumb_rt_diverted_##number() {     \
    __asm__(                                                                                 \
        "pushq %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbp, -16\n\t"                  \
        "movq %rsp, %rbp\n\t.cfi_def_cfa_register %rbp\n\t"                                  \
        "pushq %r9\n\tpushq %r8\n\tpushq %rcx\n\tpushq %rdx\n\tpushq %rsi\n\tpushq %rdi\n\t" \
        "pushq %rax\n\tpushq %r10\n\tpushq %r11\n\t"                                         \
        "subq $576, %rsp\n\tandq $-16, %rsp\n\t" PLUMB_SAVE_VECTORS "movl $" #number         \
        ", %edi\n\tleaq -48(%rbp), %rsi\n\tmovq 8(%rbp), %rdx\n\tcall "                      \
        "plumb_rt_before\n\t" PLUMB_RESTORE_VECTORS                                          \
        "movq -48(%rbp), %rdi\n\tmovq -40(%rbp), %rsi\n\tmovq -32(%rbp), %rdx\n\t"           \
        "movq -24(%rbp), %rcx\n\tmovq -16(%rbp), %r8\n\tmovq -8(%rbp), %r9\n\t"              \
        "movq -56(%rbp), %rax\n\tmovq -64(%rbp), %r10\n\tmovq -72(%rbp), %r11\n\t"           \
        "call *plumb_rt_originals+8*" #number                                                \
        "(%rip)\n\t"                                                                         \
        "movq %rax, -56(%rbp)\n\tmovq %r10, -64(%rbp)\n\tmovq %r11, -72(%rbp)\n\t"           \
        "movq %rdi, -80(%rbp)\n\tmovq %rsi, -88(%rbp)\n\tmovq %rdx, -96(%rbp)\n\t"           \
        "movq %rcx, -104(%rbp)\n\tmovq %r8, -112(%rbp)\n\tmovq %r9, "                        \
        "-120(%rbp)\n\t" PLUMB_SAVE_VECTORS "movl $" #number                                 \
        ", %edi\n\tleaq -48(%rbp), %rsi\n\tmovq 8(%rbp), %rdx\n\tmovq %rax, %rcx\n\t"        \
        "call plumb_rt_after\n\t" PLUMB_RESTORE_VECTORS                                      \
        "movq -80(%rbp), %rdi\n\tmovq -88(%rbp), %rsi\n\tmovq -96(%rbp), %rdx\n\t"           \
        "movq -104(%rbp), %rcx\n\tmovq -112(%rbp), %r8\n\tmovq -120(%rbp), %r9\n\t"          \
        "movq -56(%rbp), %rax\n\tmovq -64(%rbp), %r10\n\tmovq -72(%rbp), %r11\n\t"           \
        "leave\n\t.cfi_def_cfa %rsp, 8\n\tret");                                             \
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

// Nothing but instructions that do nothing, up to where a function can begin.
static bool is_filling(const uint8_t* code, unsigned size) {
  constexpr uintptr_t kLine = 16;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(code);
  if (begin % kLine == 0 || begin % kLine + size > kLine) return false;
  unsigned at = 0;
  while (code[at] == 0x66 || code[at] == 0x2e) ++at;
  return code[at] == 0x90 || code[at] == 0xcc || (code[at] == 0x0f && code[at + 1] == 0x1f);
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
    if (!is_end) continue;
    // What comes behind it is another's, unless it is there to fill the line.
    if (moved < kJump && !is_filling(code + moved, kJump - moved)) return false;
    break;
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
