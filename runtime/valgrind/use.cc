#include "valgrind/use.h"

#include "valgrind/blocks.h"

namespace plumb::vg {

namespace {

// A block that is accessed more often than this has its stack taken only when
// the function or its frame changes; the innermost place stays exact.
constexpr UInt kManyUses = 50;

}  // namespace

void note_use(BlockId id, ThreadId thread) {
  RawStack stack;
  take_stack(thread, stack);
  while (stack.count > 1 && is_own(stack.ips[0])) drop_innermost(stack);
  Block& it = block(id);
  it.use_stack = keep_stack(stack);
  it.use_ip = stack.ips[0];
  it.use_sp = stack.sps[0];
  it.use_top = 0;
}

VG_REGPARM(1) void on_access(Addr address) {
  const BlockId id = find_block(address);
  if (id == 0) return;
  const ThreadId thread = VG_(get_running_tid)();
  const Addr ip = VG_(get_IP)(thread);
  if (is_own(ip)) return;
  Block& it = block(id);
  const Addr sp = VG_(get_SP)(thread);
  const Addr top = *reinterpret_cast<const Addr*>(sp);
  const bool same_caller = it.use_sp == sp && it.use_top == top;
  if (it.use_ip == ip && same_caller && it.use_stack != 0) return;  // as it was
  const bool same_frame = same_caller && ip - it.use_ip + 512 < 1024;
  if (it.use_count >= kManyUses && same_frame) {
    it.use_ip = ip;
    return;
  }
  ++it.use_count;
  it.use_stack = current_stack(thread);
  it.use_ip = ip;
  it.use_sp = sp;
  it.use_top = top;
}

}  // namespace plumb::vg
