#include "valgrind/reach.h"

#include "valgrind/blocks.h"
#include "valgrind/place.h"
#include "valgrind/slots.h"
#include "valgrind/stacks.h"
#include "valgrind/threads.h"
#include "valgrind/vector.h"

extern "C" {
#include "pub_tool_libcsetjmp.h"
#include "pub_tool_signals.h"
}

namespace plumb::vg {

namespace {

// As in record.h's PlumbBlockState.
constexpr UChar kLive = 1;
constexpr UChar kReachable = 2;
constexpr UChar kSeen = 3;
constexpr UChar kDirect = 4;
constexpr UChar kIndirect = 5;

struct Range {
  Addr begin;
  Addr end;
};

Vector<BlockId> pending;

void mark(Addr value) {
  const BlockId id = find_block(value);
  if (id == 0) return;
  Block& it = block(id);
  if (it.verdict != kLive) return;
  it.verdict = kReachable;
  pending.push(id);
}

template <typename Use>
void each_reference(const Block& it, Use use) {
  const Addr* word = reinterpret_cast<const Addr*>(it.address);
  for (SizeT i = 0; i < it.size / sizeof(Addr); ++i) {
    if (!watch::in_arena(plain(word[i]))) continue;
    if (const BlockId id = find_block(word[i]); id != 0) use(id);
  }
}

void drain() {
  while (pending.count != 0) {
    each_reference(block(pending.pop()), [](BlockId id) { mark(block(id).address); });
  }
}

// Pages of a file behind its end cannot be read.
VG_MINIMAL_JMP_BUF(fault_place);
void on_fault(Int, Addr) { VG_MINIMAL_LONGJMP(fault_place); }

void mark_range(Addr begin, Addr end) {
  volatile Addr at = (begin + 7) & ~Addr{7};
  while (at + sizeof(Addr) <= end) {
    const fault_catcher_t old = VG_(set_fault_catcher)(on_fault);
    if (VG_MINIMAL_SETJMP(fault_place) == 0) {
      while (at + sizeof(Addr) <= end) {
        const Addr value = *reinterpret_cast<const Addr*>(at);
        if (watch::in_arena(plain(value))) mark(value);
        at = at + sizeof(Addr);
      }
    } else {
      at = (at | 4095) + 1;
    }
    VG_(set_fault_catcher)(old);
  }
  drain();
}

// Marks the segment without the excluded ranges, which are in order.
void mark_without(Addr begin, Addr end, Vector<Range>& excluded) {
  for (const Range& hole : excluded) {
    if (hole.end <= begin) continue;
    if (hole.begin >= end) break;
    if (hole.begin > begin) mark_range(begin, hole.begin);
    begin = hole.end;
    if (begin >= end) return;
  }
  if (begin < end) mark_range(begin, end);
}

void sort_ranges(Vector<Range>& ranges) {
  for (UInt i = 1; i < ranges.count; ++i) {
    const Range it = ranges[i];
    UInt at = i;
    for (; at > 0 && ranges[at - 1].begin > it.begin; --at) ranges[at] = ranges[at - 1];
    ranges[at] = it;
  }
}

constexpr Addr kRedZone = 128;

void exclude_dead_stacks(const watch::End& end, ThreadId running, Vector<Range>& excluded) {
  ThreadId id;
  Addr low;
  Addr high;
  VG_(thread_stack_reset_iter)(&id);
  while (VG_(thread_stack_next)(&id, &low, &high)) {
    const Addr sp = id == running ? end.stack_pointer : low - kRedZone;
    const NSegment* segment = VG_(am_find_nsegment)(sp);
    if (segment != nullptr && segment->start < sp) excluded.push({segment->start, sp});
  }
}

void mark_memory(const watch::End& end, ThreadId running) {
  Vector<Range> excluded{};
  for (UWord i = 0; i < end.no_root_count; ++i) {
    excluded.push({end.no_roots[2 * i], end.no_roots[2 * i + 1]});
  }
  excluded.push({watch::kArenaBegin, watch::kArenaEnd});
  exclude_dead_stacks(end, running, excluded);
  sort_ranges(excluded);

  const UInt kinds = SkAnonC | SkFileC | SkShmC;
  Vector<Addr> starts{};
  starts.reserve(256);
  Int count = 0;
  while ((count = VG_(am_get_segment_starts)(kinds, starts.items, static_cast<Int>(starts.room))) <
         0) {
    starts.reserve(static_cast<UInt>(-count) + 64);
  }
  for (Int i = 0; i < count; ++i) {
    const NSegment* segment = VG_(am_find_nsegment)(starts.items[i]);
    if (segment == nullptr || !segment->hasR || !segment->hasW) continue;
    mark_without(segment->start, segment->end + 1, excluded);
  }
  starts.release();
  excluded.release();
}

ThreadId ending_thread = 0;
void mark_register(ThreadId thread, const HChar*, UWord value) {
  if (thread != ending_thread) mark(value);
}

// --- Among the lost ---

struct Visit {
  BlockId block;
  SizeT word;
};

BlockId next_lost(Visit& visit) {
  const Block& it = block(visit.block);
  const Addr* word = reinterpret_cast<const Addr*>(it.address);
  while (visit.word < it.size / sizeof(Addr)) {
    const BlockId id = find_block(word[visit.word++]);
    if (id != 0 && block(id).verdict == kLive) return id;
  }
  return 0;
}

// The lost blocks by when a depth-first walk is done with them.
void order_lost(Vector<BlockId>& order) {
  Vector<Visit> path{};
  for (BlockId id = 1; id < block_end(); ++id) {
    if (block(id).state == kFreed || block(id).verdict != kLive) continue;
    block(id).verdict = kSeen;
    path.push({id, 0});
    while (path.count != 0) {
      const BlockId child = next_lost(path.last());
      if (child != 0) {
        block(child).verdict = kSeen;
        path.push({child, 0});
      } else {
        order.push(path.pop().block);
      }
    }
  }
  path.release();
}

void claim(BlockId leader) {
  block(leader).verdict = kDirect;
  block(leader).leader = leader;
  pending.push(leader);
  while (pending.count != 0) {
    each_reference(block(pending.pop()), [leader](BlockId id) {
      if (block(id).verdict != kSeen) return;
      block(id).verdict = kIndirect;
      block(id).leader = leader;
      pending.push(id);
    });
  }
}

struct Edge {
  BlockId from;
  BlockId to;
};

// The members of a cycle, those that lead back to their leader, take the latest
// drop among them.
void settle_cycles(Vector<BlockId>& order) {
  Vector<Edge> edges{};
  bool cycles = false;
  for (BlockId id : order) {
    each_reference(block(id), [&](BlockId to) {
      if (block(to).leader != block(id).leader) return;
      edges.push({id, to});
      cycles = cycles || block(to).verdict == kDirect;
    });
  }
  if (cycles) {
    // Backwards along the edges, until nothing changes: bounded by the longest
    // way back, which is short in practice.
    for (BlockId id : order) block(id).mark = block(id).verdict == kDirect ? 1 : 0;
    bool changed = true;
    for (UInt round = 0; changed && round < 1000; ++round) {
      changed = false;
      for (const Edge& edge : edges) {
        if (block(edge.to).mark == 0 || block(edge.from).mark != 0) continue;
        block(edge.from).mark = 1;
        changed = true;
      }
    }
    for (BlockId id : order) {
      Block& it = block(id);
      Block& leader = block(it.leader);
      if (it.mark != 0 && it.drop.time > leader.drop.time) {
        leader.drop = it.drop;
        leader.trail = it.trail;
      }
    }
    // Another run may take another member for the leader.
    for (BlockId id : order) {
      if (block(id).mark == 0) continue;
      block(id).drop = block(block(id).leader).drop;
      block(id).trail = block(block(id).leader).trail;
    }
  }
  edges.release();
}

// What points to a block that is still reachable: a word outside the arena, of a
// module rather than of the heap or a stack.
void note_holders(ThreadId running) {
  RawStack none;
  none.count = 0;
  slots.each([&](Addr address, const Slot& slot) {
    Block& it = block(slot.block);
    if (it.verdict != kReachable || slot.kind != kOutside) return;
    if ((it.generation & 0xfffffff) != slot.generation) return;
    const NSegment* segment = VG_(am_find_nsegment)(address);
    const bool in_module = segment != nullptr && segment->kind == SkFileC;
    if (it.mark != 0 && !in_module) return;
    it.mark = 1;
    note_word(it, address, none, running, false);
  });
}

}  // namespace

namespace {

const Addr* own_ranges = nullptr;
const Addr* own_range_count = nullptr;

}  // namespace

void note_own_ranges(const Addr* ranges, const Addr* count) {
  own_ranges = ranges;
  own_range_count = count;
}

void mark_now(const VexGuestAMD64State* state, ThreadId running) {
  for (BlockId id = 1; id < block_end(); ++id) {
    if (block(id).state != kFreed) block(id).verdict = kLive;
  }
  // The ranges with the library itself as one more.
  Vector<Addr> ranges{};
  for (Addr i = 0; own_range_count != nullptr && i < 2 * *own_range_count; ++i) {
    ranges.push(own_ranges[i]);
  }
  ranges.push(own_begin);
  ranges.push(own_end);
  watch::End end{};
  end.stack_pointer = VG_(get_SP)(running) - kRedZone;
  end.no_roots = ranges.items;
  end.no_root_count = ranges.count / 2;
  mark_memory(end, running);
  ranges.release();
  // Registers, but not what a function that returned has left in them.
  const Addr* general = reinterpret_cast<const Addr*>(&state->guest_RAX);
  const Thread& thread = thread_state(running);
  for (UInt i = 0; i < 16; ++i) {
    if (general[i] != thread.dead_value[i]) mark(general[i]);
  }
  const Addr* vectors = reinterpret_cast<const Addr*>(&state->guest_YMM0);
  for (UInt i = 0; i < 16 * 4; ++i) mark(vectors[i]);
  ending_thread = running;
  VG_(apply_to_GP_regs)(mark_register);
  drain();
}

UInt give_verdicts(const watch::End& end, ThreadId running) {
  UInt count = 0;
  for (BlockId id = 1; id < block_end(); ++id) {
    if (block(id).state == kFreed) continue;
    block(id).verdict = kLive;
    ++count;
  }
  if (count == 0) return 0;
  mark_memory(end, running);
  for (UWord i = 0; i < end.register_count; ++i) mark(end.registers[i]);
  ending_thread = running;
  VG_(apply_to_GP_regs)(mark_register);
  drain();
  note_holders(running);

  Vector<BlockId> order{};
  order_lost(order);
  for (UInt i = order.count; i > 0; --i) {
    if (block(order[i - 1]).verdict == kSeen) claim(order[i - 1]);
  }
  settle_cycles(order);
  order.release();
  return count;
}

}  // namespace plumb::vg
