#include "valgrind/stacks.h"

#include "valgrind/vector.h"

namespace plumb::vg {

Addr own_begin = 0;
Addr own_end = 0;

namespace {

struct Kept {
  ULong hash;
  StackId next;
  UInt count;
  Addr addresses[];
};
Vector<Kept*> kept;

constexpr UInt kBuckets = 1u << 16;
StackId buckets[kBuckets];

// Stacks by instruction and stack pointer. Unwinding is slow, comparing words is
// not: when every return address is still where it was, it is the same stack.
struct Remembered {
  RawStack stack;
  StackId id;  // 0: not kept yet
  bool is_plain;
};
constexpr UInt kRemembered = 1u << 13;
Remembered* remembered = nullptr;

// On one stack, whose memory is there as long as its thread runs on it.
bool is_plain(const RawStack& stack) {
  constexpr Addr kLargest = 8u << 20;
  for (UInt i = 1; i < stack.count; ++i) {
    if (stack.sps[i] <= stack.sps[i - 1] || stack.sps[i] - stack.sps[0] > kLargest) return false;
  }
  return true;
}

bool is_still_there(const RawStack& stack) {
  for (UInt i = 1; i < stack.count; ++i) {
    const Addr* place = reinterpret_cast<const Addr*>(stack.sps[i] - sizeof(Addr));
    if (*place != stack.ips[i] + 1) return false;
  }
  return true;
}

// The last stack that was unwound: the next one mostly differs in its innermost
// frames only.
RawStack last;

// The frame in `last` that is the same as this one, with all outer ones still in
// place; 0: none (the innermost one does not count).
UInt same_as_before(Addr ip, Addr sp) {
  for (UInt i = 1; i < last.count; ++i) {
    if (last.sps[i] < sp) continue;
    if (last.sps[i] != sp || last.ips[i] != ip) return 0;
    for (UInt outer = i + 1; outer < last.count; ++outer) {
      const Addr* place = reinterpret_cast<const Addr*>(last.sps[outer] - sizeof(Addr));
      if (*place != last.ips[outer] + 1) return 0;
    }
    return i;
  }
  return 0;
}

bool is_code(Addr ip) {
  const NSegment* segment = VG_(am_find_nsegment)(ip);
  return segment != nullptr && segment->hasX;
}

// Unwinds a few frames at a time, until one is found that was there before.
// `delta` is added to the stack pointer that the thread has.
void unwind(ThreadId thread, RawStack& stack, Word delta) {
  for (UInt wanted = 3;; wanted = wanted < 12 ? wanted * 2 : watch::kMaxFrames) {
    stack.count =
        VG_(get_StackTrace_with_deltas)(thread, stack.ips, wanted, stack.sps, nullptr, 0, delta);
    if (stack.count < wanted || wanted == watch::kMaxFrames) {
      // Above the program's first function there is something, but no caller.
      while (stack.count > 1 && !is_code(stack.ips[stack.count - 1])) --stack.count;
      break;
    }
    const UInt outermost = stack.count - 1;
    const UInt same = same_as_before(stack.ips[outermost], stack.sps[outermost]);
    if (same == 0) continue;
    for (UInt i = same + 1; i < last.count && stack.count < watch::kMaxFrames; ++i) {
      stack.ips[stack.count] = last.ips[i];
      stack.sps[stack.count] = last.sps[i];
      ++stack.count;
    }
    break;
  }
  last.count = 0;
  if (!is_plain(stack)) return;
  for (UInt i = 0; i < stack.count; ++i) {
    last.ips[i] = stack.ips[i];
    last.sps[i] = stack.sps[i];
  }
  last.count = stack.count;
}

Remembered& memory_for(Addr ip, Addr sp) {
  if (remembered == nullptr) {
    remembered =
        static_cast<Remembered*>(VG_(calloc)("plumb.remembered", kRemembered, sizeof(Remembered)));
  }
  const ULong hash = (ip ^ (sp << 16)) * 0x9e3779b97f4a7c15u;
  return remembered[hash >> 51];
}
static_assert(kRemembered == 1u << (64 - 51));

Remembered& remember(ThreadId thread) {
  const Addr ip = VG_(get_IP)(thread);
  const Addr sp = VG_(get_SP)(thread);
  Remembered& it = memory_for(ip, sp);
  if (it.is_plain && it.stack.count != 0 && it.stack.ips[0] == ip && it.stack.sps[0] == sp &&
      is_still_there(it.stack)) {
    return it;
  }
  it.id = 0;
  unwind(thread, it.stack, 0);
  it.is_plain = is_plain(it.stack);
  return it;
}

}  // namespace

void take_stack(ThreadId thread, RawStack& stack, bool just_returned) {
  if (!just_returned) {
    const RawStack& known = remember(thread).stack;
    stack.count = known.count;
    for (UInt i = 0; i < known.count; ++i) {
      stack.ips[i] = known.ips[i];
      stack.sps[i] = known.sps[i];
    }
    return;
  }
  unwind(thread, stack, -static_cast<Word>(sizeof(Addr)));
}

void drop_innermost(RawStack& stack) {
  if (stack.count < 2) return;
  for (UInt i = 1; i < stack.count; ++i) {
    stack.ips[i - 1] = stack.ips[i];
    stack.sps[i - 1] = stack.sps[i];
  }
  --stack.count;
}

void put_innermost(RawStack& stack, Addr ip, Addr sp) {
  if (stack.count == watch::kMaxFrames) --stack.count;
  for (UInt i = stack.count; i > 0; --i) {
    stack.ips[i] = stack.ips[i - 1];
    stack.sps[i] = stack.sps[i - 1];
  }
  stack.ips[0] = ip;
  stack.sps[0] = sp;
  ++stack.count;
}

void cut_to_frame_of(RawStack& stack, Addr address) {
  UInt inner = 0;
  while (inner + 1 < stack.count && stack.sps[inner + 1] <= address) ++inner;
  for (UInt i = inner; i < stack.count; ++i) {
    stack.ips[i - inner] = stack.ips[i];
    stack.sps[i - inner] = stack.sps[i];
  }
  stack.count -= inner;
}

StackId keep_stack(const RawStack& stack) {
  Addr addresses[watch::kMaxFrames];
  UInt count = 0;
  ULong hash = 0;
  for (UInt i = 0; i < stack.count; ++i) {
    if (is_own(stack.ips[i])) continue;
    addresses[count] = stack.ips[i] + 1;
    hash = (hash ^ addresses[count]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    ++count;
  }
  if (count == 0) return 0;
  if (kept.count == 0) kept.push(nullptr);
  StackId& bucket = buckets[hash % kBuckets];
  for (StackId id = bucket; id != 0; id = kept[id]->next) {
    if (kept[id]->hash == hash && kept[id]->count == count) return id;
  }
  Kept* fresh = static_cast<Kept*>(VG_(malloc)("plumb.stack", sizeof(Kept) + count * sizeof(Addr)));
  fresh->hash = hash;
  fresh->next = bucket;
  fresh->count = count;
  for (UInt i = 0; i < count; ++i) fresh->addresses[i] = addresses[i];
  bucket = kept.count;
  kept.push(fresh);
  return bucket;
}

StackId current_stack(ThreadId thread) {
  Remembered& it = remember(thread);
  if (it.id == 0) it.id = keep_stack(it.stack);
  return it.id;
}

void copy_frames(StackId id, watch::Frames& frames) {
  frames.count = 0;
  if (id == 0) return;
  const Kept& stack = *kept[id];
  for (UInt i = 0; i < stack.count; ++i) frames.addresses[i] = stack.addresses[i];
  frames.count = stack.count;
}

}  // namespace plumb::vg
