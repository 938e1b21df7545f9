#include "valgrind/reach.h"

#include "valgrind/blocks.h"
#include "valgrind/parts.h"
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

// `from`: the block that has the reference; 0: a root has it.
void mark(Addr value, BlockId from = 0) {
  const BlockId id = find_block(value);
  if (id == 0) return;
  Block& it = block(id);
  if (it.verdict != kLive) return;
  it.verdict = kReachable;
  it.leader = from;
  pending.push(id);
  if (!it.is_part) return;
  // What it is a part of.
  const BlockId around = find_in_arena(it.address);
  if (around == 0 || block(around).verdict != kLive) return;
  block(around).verdict = kReachable;
  block(around).leader = from;
  pending.push(around);
}

// The first whole word at or behind an address.
Addr word_at(Addr address) { return (address + 7) & ~Addr{7}; }

// Words that a part of the block has are the part's.
bool is_own_word(const Block& it, Addr word) { return it.is_part || !is_in_part(word); }

template <typename Use>
void each_reference(const Block& it, Use use) {
  for (Addr at = word_at(it.address); at + sizeof(Addr) <= it.address + it.size;
       at += sizeof(Addr)) {
    const Addr value = *reinterpret_cast<const Addr*>(at);
    if (!may_refer(value)) continue;
    if (const BlockId id = find_block(value); id != 0 && is_own_word(it, at)) use(id);
  }
}

// Blocks that belong together without a reference: a part and what it is a part of.
template <typename Use>
void each_connected(const Block& it, Use use) {
  if (part_count() == 0) return;
  if (it.is_part) {
    if (const BlockId around = find_in_arena(it.address); around != 0) use(around);
    return;
  }
  for (UInt i = first_part_behind(it.address); i < part_count(); ++i) {
    if (block(nth_part(i)).address >= it.address + it.size) return;
    use(nth_part(i));
  }
}

void drain() {
  while (pending.count != 0) {
    const BlockId from = pending.pop();
    each_reference(block(from), [from](BlockId id) { mark(block(id).address, from); });
  }
}

// Pages of a file behind its end cannot be read.
VG_MINIMAL_JMP_BUF(fault_place);
void on_fault(Int, Addr) { VG_MINIMAL_LONGJMP(fault_place); }

using UseWord = void (*)(Addr at, Addr value);

void each_word_in(Addr begin, Addr end, UseWord use) {
  volatile Addr at = (begin + 7) & ~Addr{7};
  while (at + sizeof(Addr) <= end) {
    const fault_catcher_t old = VG_(set_fault_catcher)(on_fault);
    if (VG_MINIMAL_SETJMP(fault_place) == 0) {
      while (at + sizeof(Addr) <= end) {
        const Addr value = *reinterpret_cast<const Addr*>(at);
        if (may_refer(value)) use(at, value);
        at = at + sizeof(Addr);
      }
    } else {
      at = (at | 4095) + 1;
    }
    VG_(set_fault_catcher)(old);
  }
}

// The segment without the excluded ranges, which are in order.
void each_word_without(Addr begin, Addr end, Vector<Range>& excluded, UseWord use) {
  for (const Range& hole : excluded) {
    if (hole.end <= begin) continue;
    if (hole.begin >= end) break;
    if (hole.begin > begin) each_word_in(begin, hole.begin, use);
    begin = hole.end;
    if (begin >= end) return;
  }
  if (begin < end) each_word_in(begin, end, use);
}

Int compare_ranges(const void* left, const void* right) {
  const Addr a = static_cast<const Range*>(left)->begin;
  const Addr b = static_cast<const Range*>(right)->begin;
  return a < b ? -1 : a > b ? 1 : 0;
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

// All that the program can read and write, except its dead stacks and what the library has.
// Returns how much that is.
ULong each_word(const watch::End& end, ThreadId running, bool with_blocks, UseWord use) {
  Vector<Range> excluded{};
  for (UWord i = 0; i < end.no_root_count; ++i) {
    excluded.push({end.no_roots[2 * i], end.no_roots[2 * i + 1]});
  }
  if (!with_blocks) {
    excluded.push({watch::kArenaBegin, watch::kArenaEnd});
    for (UInt i = 0; i < part_count(); ++i) {
      const Block& part = block(nth_part(i));
      excluded.push({part.address, part.address + part.size});
    }
  }
  exclude_dead_stacks(end, running, excluded);
  VG_(ssort)(excluded.items, excluded.count, sizeof(Range), compare_ranges);
  ULong looked = 0;

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
    each_word_without(segment->start, segment->end + 1, excluded, use);
    looked += segment->end + 1 - segment->start;
  }
  starts.release();
  excluded.release();
  return looked;
}

// Among the variables of a module. Those that begin as zero are in no file.
bool is_in_module(Addr word) {
  const NSegment* segment = VG_(am_find_nsegment)(word);
  if (segment == nullptr || segment->isCH) return false;
  return segment->kind == SkFileC || VG_(DebugInfo_sect_kind)(nullptr, word) != Vg_SectUnknown;
}

// What points to a block that is still reachable: a word outside the arena, of a
// module rather than of the heap or a stack.
void note_holder(Block& it, Addr word, ThreadId running) {
  const bool in_module = is_in_module(word);
  if (it.mark != 0 && !in_module) return;
  it.mark = 1;
  RawStack none;
  none.count = 0;
  note_word(it, word, none, running, false);
}

ThreadId ending_thread = 0;
void mark_memory(const watch::End& end, ThreadId running) {
  ending_thread = running;
  each_word(end, running, false, [](Addr at, Addr value) {
    mark(value);
    drain();
    // Nobody has followed the references to these.
    const BlockId id = find_block(value);
    if (id != 0 && is_kept(block(id))) note_holder(block(id), at, ending_thread);
  });
}

void mark_register(ThreadId thread, const HChar*, UWord value) {
  if (thread != ending_thread) mark(value);
}

// --- Among the lost ---

struct Visit {
  BlockId block;
  Addr word;
};

BlockId next_lost(Visit& visit) {
  const Block& it = block(visit.block);
  while (visit.word + sizeof(Addr) <= it.address + it.size) {
    const Addr at = visit.word;
    visit.word += sizeof(Addr);
    const BlockId id = find_block(*reinterpret_cast<const Addr*>(at));
    if (id != 0 && block(id).verdict == kLive && is_own_word(it, at)) return id;
  }
  BlockId next = 0;
  each_connected(it, [&next](BlockId id) {
    if (next == 0 && block(id).verdict == kLive) next = id;
  });
  return next;
}

// The lost blocks by when a depth-first walk is done with them.
void order_lost(Vector<BlockId>& order) {
  Vector<Visit> path{};
  for (BlockId id = 1; id < block_end(); ++id) {
    if (block(id).state == kFreed || block(id).verdict != kLive) continue;
    block(id).verdict = kSeen;
    path.push({id, word_at(block(id).address)});
    while (path.count != 0) {
      const BlockId child = next_lost(path.last());
      if (child != 0) {
        block(child).verdict = kSeen;
        path.push({child, word_at(block(child).address)});
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
    const Block& it = block(pending.pop());
    const auto take = [leader](BlockId id) {
      if (block(id).verdict != kSeen) return;
      block(id).verdict = kIndirect;
      block(id).leader = leader;
      pending.push(id);
    };
    each_reference(it, take);
    each_connected(it, take);
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

void note_holders(ThreadId running) {
  slots.each([&](Addr address, const Slot& slot) {
    Block& it = block(slot.block);
    if (it.verdict != kReachable || slot.kind != kOutside) return;
    if ((it.generation & 0xfffffff) != slot.generation) return;
    note_holder(it, address, running);
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

namespace {

// As at the end, but from this stack pointer on.
ULong each_word_now(Addr sp, ThreadId running, bool with_blocks, UseWord use) {
  // The ranges with the library itself as one more.
  Vector<Addr> ranges{};
  for (Addr i = 0; own_range_count != nullptr && i < 2 * *own_range_count; ++i) {
    ranges.push(own_ranges[i]);
  }
  ranges.push(own_begin);
  ranges.push(own_end);
  watch::End end{};
  end.stack_pointer = sp;
  end.no_roots = ranges.items;
  end.no_root_count = ranges.count / 2;
  const ULong looked = each_word(end, running, with_blocks, use);
  ranges.release();
  return looked;
}

}  // namespace

ULong each_reference_now(Addr sp, ThreadId running, void (*use)(Addr at, Addr value)) {
  return each_word_now(sp, running, true, use);
}

void mark_now(const VexGuestAMD64State* state, ThreadId running) {
  for (BlockId id = 1; id < block_end(); ++id) {
    if (block(id).state != kFreed) block(id).verdict = kLive;
  }
  each_word_now(VG_(get_SP)(running) - kRedZone, running, false, [](Addr, Addr value) {
    mark(value);
    drain();
  });
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

namespace {

// From all roots, with the registers that the ending thread had.
void mark_all(const watch::End& end, ThreadId running) {
  mark_memory(end, running);
  for (UWord i = 0; i < end.register_count; ++i) mark(end.registers[i]);
  VG_(apply_to_GP_regs)(mark_register);
  drain();
}

}  // namespace

void count_lost(const watch::End& end, ThreadId running, watch::Count& count) {
  for (BlockId id = 1; id < block_end(); ++id) {
    if (block(id).state != kFreed) block(id).verdict = kLive;
  }
  mark_all(end, running);
  for (BlockId id = 1; id < block_end(); ++id) {
    Block& it = block(id);
    if (it.state == kFreed || it.verdict != kLive || it.counted) continue;
    ++count.blocks;
    count.bytes += it.size;
    it.counted = count.then != 0;
  }
}

UInt give_verdicts(const watch::End& end, ThreadId running) {
  UInt count = 0;
  for (BlockId id = 1; id < block_end(); ++id) {
    if (block(id).state == kFreed) continue;
    block(id).verdict = kLive;
    block(id).mark = 0;
    ++count;
  }
  if (count == 0) return 0;
  mark_all(end, running);
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
