#include "common/stack_depot.h"

#include "common/memory.h"
#include "common/modules.h"
#include "common/trace_file.h"

namespace plumb::rt {

namespace {

// Buckets lie anywhere in the table: each new stack may cost a page.
#ifdef PLUMB_FEW_STACKS
constexpr unsigned kBucketBits = 13;
#else
constexpr unsigned kBucketBits = 18;
#endif
uint32_t* buckets = nullptr;

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

const PlumbStack& stack_at(uint32_t id) {
  return *reinterpret_cast<const PlumbStack*>(trace().stack_words() + id);
}

uint32_t find(uint32_t first, uint32_t end, uint64_t hash, uint32_t epoch,
              const uintptr_t* addresses, unsigned count) {
  for (uint32_t id = first; id != end; id = stack_at(id).next) {
    const PlumbStack& stack = stack_at(id);
    if (stack.hash == hash && stack.count == count && stack.epoch == epoch &&
        __builtin_memcmp(trace().stack_words() + id + PLUMB_STACK_WORDS, addresses,
                         count * sizeof *addresses) == 0) {
      return id;
    }
  }
  return 0;
}

}  // namespace

bool prepare_stack_depot() {
  buckets = static_cast<uint32_t*>(own_pages(sizeof(uint32_t) << kBucketBits));
  return buckets != nullptr;
}

uint32_t stack_id(Inside& in, const uintptr_t* addresses, unsigned count) {
  uint32_t epoch = module_epoch();
  uint64_t hash = epoch;
  for (unsigned i = 0; i < count; ++i) hash = mix(hash, addresses[i]);
  uint32_t* bucket = &buckets[hash >> (64 - kBucketBits)];
  uint32_t head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
  if (const uint32_t id = find(head, 0, hash, epoch, addresses, count); id != 0) return id;

  for (unsigned i = 0; i < count; ++i) note_module(in, addresses[i]);
  if (module_epoch() != epoch) return stack_id(in, addresses, count);  // one was replaced

  const uint64_t place = trace().take(PLUMB_SECTION_STACKS, PLUMB_STACK_WORDS + count);
  if (place == 0) {
    trace().limit(PLUMB_LIMIT_STACKS_FULL);
    return 0;
  }
  const uint32_t id = static_cast<uint32_t>(place);
  PlumbStack& stack = *reinterpret_cast<PlumbStack*>(trace().stack_words() + id);
  stack.hash = hash;
  stack.count = count;
  stack.epoch = epoch;
  __builtin_memcpy(trace().stack_words() + id + PLUMB_STACK_WORDS, addresses,
                   count * sizeof *addresses);
  while (true) {
    stack.next = head;
    uint32_t expected = head;
    if (__atomic_compare_exchange_n(bucket, &expected, id, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      return id;
    }
    // Another thread put something in front; it may be this very stack. The
    // copy that is then left over is only a few words.
    if (const uint32_t other = find(expected, head, hash, epoch, addresses, count); other != 0) {
      return other;
    }
    head = expected;
  }
}

}  // namespace plumb::rt
