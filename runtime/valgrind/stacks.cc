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

}  // namespace

void take_stack(ThreadId thread, RawStack& stack, bool just_returned) {
  stack.count =
      VG_(get_StackTrace_with_deltas)(thread, stack.ips, watch::kMaxFrames, stack.sps, nullptr, 0,
                                      just_returned ? -static_cast<Word>(sizeof(Addr)) : 0);
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
  RawStack stack;
  take_stack(thread, stack);
  return keep_stack(stack);
}

void copy_frames(StackId id, watch::Frames& frames) {
  frames.count = 0;
  if (id == 0) return;
  const Kept& stack = *kept[id];
  for (UInt i = 0; i < stack.count; ++i) frames.addresses[i] = stack.addresses[i];
  frames.count = stack.count;
}

}  // namespace plumb::vg
