#include "preload/memcheck_requests.h"

#include <stddef.h>

#include "common/annotations.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/sys.h"
#include "common/watch_protocol.h"

namespace plumb::rt {

namespace {

// Flags of VALGRIND_CREATE_MEMPOOL_EXT.
constexpr uint64_t kAutoFree = 1;
constexpr uint64_t kMeta = 2;

// A pool whose pieces are no blocks: the program hands out parts of them.
struct MetaPool {
  uintptr_t pool;
  bool auto_free;  // what is in a piece goes with it
};
struct Piece {
  uintptr_t pool;
  uintptr_t begin;
  size_t size;
};
OwnVector<MetaPool> meta_pools;
OwnVector<Piece> pieces;

template <typename T, typename Same>
T* find_in(OwnVector<T>& all, Same same) {
  for (T& each : all) {
    if (same(each)) return &each;
  }
  return nullptr;
}

template <typename T>
void remove(OwnVector<T>& all, T* which) {
  *which = all[all.size() - 1];
  all.pop();
}

MetaPool* meta_pool(uintptr_t pool) {
  return find_in(meta_pools, [&](const MetaPool& each) { return each.pool == pool; });
}

struct Chosen {
  bool (*matches)(const Chosen&, const CustomBlock&);
  uintptr_t pool;
  uintptr_t begin;
  uintptr_t end;
  uintptr_t to;
  static constexpr unsigned kMost = 64;
  CustomBlock found[kMost];
  unsigned count;
};

// What of the chosen blocks there is, by turns of as many as fit.
unsigned choose(Chosen& chosen) {
  chosen.count = 0;
  for_each_custom(
      [](void* context, CustomBlock& block) {
        auto& it = *static_cast<Chosen*>(context);
        if (it.count < Chosen::kMost && it.matches(it, block)) it.found[it.count++] = block;
      },
      &chosen);
  return chosen.count;
}

bool is_in(const Chosen& it, const CustomBlock& block) {
  return block.address >= it.begin && block.address + block.size <= it.end;
}

void free_chosen(Chosen& chosen, AnnotationCaller caller) {
  // Nothing is taken back any more when the program ends meanwhile.
  while (tracking() && choose(chosen) != 0) {
    for (unsigned i = 0; i < chosen.count; ++i) retract_block(chosen.found[i].address, caller);
  }
}

// What does not lie in the range goes; all of them, when there is no range.
void trim(uintptr_t pool, uintptr_t begin, size_t size, AnnotationCaller caller) {
  Chosen outside{};
  outside.pool = pool;
  outside.begin = begin;
  outside.end = begin + size;
  outside.matches = [](const Chosen& it, const CustomBlock& block) {
    return block.pool == it.pool && !is_in(it, block);
  };
  free_chosen(outside, caller);
}

// The blocks stay what they are, under another name of their pool.
void move_pool(uintptr_t from, uintptr_t to) {
  Chosen all{};
  all.pool = from;
  all.matches = [](const Chosen& it, const CustomBlock& block) { return block.pool == it.pool; };
  Inside in;
  while (from != to && choose(all) != 0) {
    for (unsigned i = 0; i < all.count; ++i) {
      CustomBlock block{};
      if (!take_custom(in, all.found[i].address, block)) continue;
      block.pool = to;
      add_custom(in, block);
    }
  }
  if (MetaPool* meta = meta_pool(from)) meta->pool = to;
  for (Piece& piece : pieces) {
    if (piece.pool == from) piece.pool = to;
  }
}

void begin_in_pool(uintptr_t pool, uintptr_t address, size_t size, AnnotationCaller caller) {
  if (meta_pool(pool) != nullptr)
    pieces.push({pool, address, size});
  else
    announce_block(pool, address, size, caller);
}

void end_piece(const MetaPool& meta, Piece* piece, AnnotationCaller caller) {
  Chosen inside{};
  inside.begin = piece->begin;
  inside.end = piece->begin + piece->size;
  inside.matches = is_in;
  if (meta.auto_free) free_chosen(inside, caller);
  remove(pieces, piece);
}

void end_in_pool(uintptr_t pool, uintptr_t address, AnnotationCaller caller) {
  const MetaPool* meta = meta_pool(pool);
  if (meta == nullptr) return retract_block(address, caller);
  Piece* piece = find_in(
      pieces, [&](const Piece& each) { return each.pool == pool && each.begin == address; });
  if (piece != nullptr) end_piece(*meta, piece, caller);
}

void destroy_pool(uintptr_t pool, AnnotationCaller caller) {
  trim(pool, 0, 0, caller);
  MetaPool* meta = meta_pool(pool);
  if (meta == nullptr) return;
  while (Piece* piece = find_in(pieces, [&](const Piece& each) { return each.pool == pool; })) {
    end_piece(*meta, piece, caller);
  }
  remove(meta_pools, meta);
}

// One request at a time. A signal handler's that comes in the middle of another one of the
// same thread, or of our own work, passes by.
class OneAtATime {
 public:
  OneAtATime() {
    const Inside in;
    if (!in.outermost()) return;
    const long self = sys_call(SYS_gettid);
    long nobody = 0;
    while (!__atomic_compare_exchange_n(&owner_, &nobody, self, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
      if (nobody == self) return;
      nobody = 0;
      sys_call(SYS_sched_yield);
    }
    mine_ = true;
  }
  ~OneAtATime() {
    if (mine_) __atomic_store_n(&owner_, 0, __ATOMIC_RELEASE);
  }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;
  bool granted() const { return mine_; }

 private:
  static inline long owner_ = 0;
  bool mine_ = false;
};

}  // namespace

extern "C" __attribute__((used, visibility("hidden"))) void plumb_rt_memcheck_request(
    const uint64_t* words, const uint64_t* gone_on) {
  const OneAtATime turn;
  if (!turn.granted() || !tracking()) return;
  const AnnotationCaller caller{reinterpret_cast<uintptr_t>(gone_on), *gone_on};
  switch (words[0]) {
    case watch::kMallocLike:
      announce_block(0, words[1], words[2], caller);
      break;
    case watch::kFreeLike:
      retract_block(words[1], caller);
      break;
    case watch::kCreatePool:
      if ((words[4] & kMeta) != 0) meta_pools.push({words[1], (words[4] & kAutoFree) != 0});
      break;
    case watch::kDestroyPool:
      destroy_pool(words[1], caller);
      break;
    case watch::kPoolAlloc:
      begin_in_pool(words[1], words[2], words[3], caller);
      break;
    case watch::kPoolFree:
      end_in_pool(words[1], words[2], caller);
      break;
    case watch::kPoolTrim:
      trim(words[1], words[2], words[3], caller);
      break;
    case watch::kMovePool:
      move_pool(words[1], words[2]);
      break;
    case watch::kPoolChange:
      end_in_pool(words[1], words[2], caller);
      begin_in_pool(words[1], words[3], words[4], caller);
      break;
    default:
      break;
  }
}

// All registers are the program's: a request is a statement in the middle of a function. What
// is called uses none of those of AVX but in libc's way, by halves that are kept here.
__asm__(R"(
  .text
  .type plumb_rt_memcheck_entry, @function
  .hidden plumb_rt_memcheck_entry
  .globl plumb_rt_memcheck_entry
plumb_rt_memcheck_entry:
  .cfi_startproc
  .cfi_def_cfa %rsp, 136
  .cfi_offset %rip, -136
  pushfq
  .cfi_adjust_cfa_offset 8
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_offset %rbp, -152
  movq %rsp, %rbp
  .cfi_def_cfa %rbp, 152
  .irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
  pushq %\register
  .endr
  movq %rax, %rdi
  leaq 16(%rbp), %rsi
  subq $512, %rsp
  andq $-32, %rsp
  cmpb $0, plumb_rt_has_avx(%rip)
  je 1f
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  vmovdqu %ymm\number, (32*\number)(%rsp)
  .endr
  call plumb_rt_memcheck_request
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  vmovdqu (32*\number)(%rsp), %ymm\number
  .endr
  jmp 2f
1:
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  movups %xmm\number, (16*\number)(%rsp)
  .endr
  call plumb_rt_memcheck_request
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  movups (16*\number)(%rsp), %xmm\number
  .endr
2:
  leaq -72(%rbp), %rsp
  .irp register, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
  popq %\register
  .endr
  popq %rbp
  .cfi_def_cfa %rsp, 144
  .cfi_restore %rbp
  popfq
  .cfi_adjust_cfa_offset -8
  ret $128
  .cfi_endproc
  .size plumb_rt_memcheck_entry, . - plumb_rt_memcheck_entry
)");

extern "C" {
extern __attribute__((visibility("hidden"))) const char plumb_rt_memcheck_entry[];
__attribute__((used, visibility("hidden"))) bool plumb_rt_has_avx = false;
}

uintptr_t memcheck_request_entry() {
  __builtin_cpu_init();
  plumb_rt_has_avx = __builtin_cpu_supports("avx") != 0;
  return reinterpret_cast<uintptr_t>(plumb_rt_memcheck_entry);
}

}  // namespace plumb::rt
