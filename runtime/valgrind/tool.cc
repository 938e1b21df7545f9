// The Valgrind tool behind `plumb run`'s second look: it watches the blocks that
// the library inside the program (runtime/preload) asks for, and answers at the
// end where each of them was lost.
//
// The tool replaces no function of the program's and writes no report: names,
// tables and records are the library's, which speaks to us by client requests
// (common/watch_protocol.h).

#include "common/watch_protocol.h"
#include "valgrind/alarm.h"
#include "valgrind/blocks.h"
#include "valgrind/follow.h"
#include "valgrind/instrument.h"
#include "valgrind/parts.h"
#include "valgrind/reach.h"
#include "valgrind/scopes.h"
#include "valgrind/threads.h"
#include "valgrind/trail.h"
#include "valgrind/use.h"
#include "valgrind/vg.h"

// Not in the tools' headers: a descriptor where the program does not see it.
extern "C" Int VG_(safe_fd)(Int old);

namespace plumb::vg {

namespace {

Bool no_input = False;  // standard input cannot be read a second time
constexpr Int kInputWasRead = 86;

Addr forward_to = 0;  // see watch::Start; 0: memcheck's requests are nobody's business

// System calls by number (x86-64).
constexpr UInt kRead = 0;
constexpr UInt kReadv = 19;
constexpr UInt kRecvfrom = 45;
constexpr UInt kRecvmsg = 47;

// --- Requests ---

UWord start(const watch::Start& start) {
  own_begin = start.own_begin;
  own_end = start.own_end;
  prepare_arena(start.all != 0);
  inside_holds = start.all != 0;
  note_own_ranges(start.ranges, start.range_count);
  note_scopes(start);
  forward_to = start.forward;
  // What of the library ran before was taken for the program's.
  VG_(discard_translations_safely)(own_begin, own_end - own_begin, "plumb");
  return watch::kVersion;
}

UWord allocate(ThreadId thread, SizeT size, SizeT alignment, bool followed) {
  const BlockId id = new_block(size, alignment, followed);
  if (id == 0) return 0;
  Block& it = block(id);
  VG_(memset)(reinterpret_cast<void*>(it.address), 0, size);
  begin_block(id, thread);
  return it.address;
}

// What is still reachable hangs on what a root holds, perhaps by way of others.
const Block& held_by_root(const Block& it) {
  const Block* at = &it;
  while (at->mark == 0 && at->leader != 0) at = &block(at->leader);
  return *at;
}

UWord answer(Addr address, watch::Info& info) {
  const BlockId id = info.is_part != 0 ? part_at(address) : find_in_arena(address);
  if (id == 0) return 0;
  const Block& it = block(id);
  info.state = it.verdict;
  const bool is_reachable = it.verdict == PLUMB_BLOCK_REACHABLE;
  const BlockId leader = is_reachable ? 0 : it.leader;
  info.leader = leader == 0 ? 0 : block(leader).address;
  info.leader_is_part = leader != 0 && block(leader).is_part ? 1 : 0;
  // A word that still holds it, although nothing reaches it: we do not know.
  const bool known = it.outside == 0 && (it.drop.stack != 0 || it.drop.ip != 0);
  info.cause = known ? it.drop.cause : kUnknownCause;
  info.flags = it.drop.flags | (it.stored ? 0 : kNotStored);
  copy_frames(it.allocation, info.allocation);
  copy_frames(known ? it.drop.stack : 0, info.loss);
  if (known && it.drop.stack == 0) {
    info.loss.count = 1;
    info.loss.addresses[0] = it.drop.ip + 1;
  }
  VG_(memset)(&info.place, 0, sizeof info.place);
  if (is_reachable) {
    const Block& root = held_by_root(it);
    if (root.mark != 0 && root.drop.place != nullptr) info.place = *root.drop.place;
  } else if (known && it.drop.place != nullptr) {
    info.place = *it.drop.place;
  }
  info.trail.count = 0;
  if (known && (it.drop.flags & kLastRead) != 0) {
    copy_trail(it, info.trail);
    if (it.trail != nullptr && it.trail->thrown) info.flags |= kThrown;
  }
  copy_frames(it.use_stack, info.use);
  if (info.use.count != 0) info.use.addresses[0] = it.use_ip + 1;
  return 1;
}

// The library's answer to a program that is annotated for memcheck runs in the thread that
// asked, as if it had called it.
Bool forward(ThreadId thread, const UWord* args) {
  if (forward_to == 0) return False;
  // malloc's block as a whole is malloc's.
  const Addr address = args[0] == watch::kMallocLike ? args[1] : args[2];
  const SizeT size = args[0] == watch::kMallocLike ? args[2] : args[3];
  if (args[0] == watch::kMallocLike || args[0] == watch::kPoolAlloc) {
    const BlockId id = find_in_arena(address);
    if (id != 0 && block(id).address == address && block(id).size == size) return True;
  }
  const Addr next = VG_(get_IP)(thread);
  const Addr pointer = VG_(get_SP)(thread) - watch::kRedZone - sizeof(Addr);
  if (!VG_(am_is_valid_for_client)(pointer, sizeof(Addr), VKI_PROT_READ | VKI_PROT_WRITE)) {
    return False;
  }
  *reinterpret_cast<Addr*>(pointer) = next;
  const auto set = [&](PtrdiffT place, Addr value) {
    VG_(set_shadow_regs_area)
    (thread, 0, place, sizeof value, reinterpret_cast<const UChar*>(&value));
  };
  set(offsetof(VexGuestAMD64State, guest_RSP), pointer);
  set(offsetof(VexGuestAMD64State, guest_RIP), forward_to);
  return True;
}

Bool on_request(ThreadId thread, UWord* args, UWord* result) {
  if (args[0] >= watch::kMallocLike && args[0] <= watch::kPoolChange) {
    *result = 0;
    return forward(thread, args);
  }
  if ((args[0] & 0xffff0000) != watch::kBase) return False;
  *result = 0;
  switch (args[0]) {
    case watch::kStart:
      *result = start(*reinterpret_cast<const watch::Start*>(args[1]));
      return True;
    case watch::kAllocate:
      *result = allocate(thread, args[1], args[2], args[3] == 0);
      return True;
    case watch::kArrives:
      if (const BlockId id = find_in_arena(args[1]); id != 0 && block(id).held == 0) {
        begin_block(id, thread);
      }
      return True;
    case watch::kFree:
      if (const BlockId id = find_in_arena(args[1]); id != 0 && block(id).address == args[1]) {
        end_block(id, thread);
      }
      return True;
    case watch::kPartBegins:
      begin_part(args[1], args[2], thread);
      return True;
    case watch::kPartEnds:
      if (const BlockId id = part_at(args[1]); id != 0) end_block(id, thread);
      return True;
    case watch::kSize:
      if (const BlockId id = find_in_arena(args[1]); id != 0) {
        *result = block(id).size;
        note_use(id, thread);
      }
      return True;
    case watch::kStored:
      memory_written(args[1], sizeof(Addr), false, false);
      return True;
    case watch::kRangeDies:
      range_dies(args[1], args[2], kHolderFreed, thread);
      return True;
    case watch::kThreadBegins:
      thread_begins(thread, args[1], args[2] != 0);
      return True;
    case watch::kCount:
      count_lost(*reinterpret_cast<const watch::End*>(args[1]), thread,
                 *reinterpret_cast<watch::Count*>(args[2]));
      return True;
    case watch::kEnd:
      *result = give_verdicts(*reinterpret_cast<const watch::End*>(args[1]), thread);
      return True;
    case watch::kInfo:
      *result = answer(args[1], *reinterpret_cast<watch::Info*>(args[2]));
      return True;
    default:
      return False;
  }
}

// --- Events ---

void on_run(ThreadId thread, ULong) { set_lowest(thread); }

void on_thread_end(ThreadId thread) {
  Addr thread_pointer = 0;
  VG_(get_shadow_regs_area)
  (thread, reinterpret_cast<UChar*>(&thread_pointer), 0,
   offsetof(VexGuestAMD64State, guest_FS_CONST), sizeof thread_pointer);
  thread_ends(thread, thread_pointer);
}

void on_unmap(Addr begin, SizeT size) {
  range_dies(begin, size, kUnmapped, VG_(get_running_tid)());
}
void on_remap(Addr from, Addr to, SizeT size) { range_moves(from, to, size); }

// Written by the kernel: a read may bring a pointer, or end one.
void on_kernel_write(CorePart, ThreadId thread, Addr begin, SizeT size) {
  if (VG_(get_running_tid)() != thread || size > (SizeT{1} << 20)) return;
  if (slots.count() == 0 && size < sizeof(Addr)) return;
  memory_written(begin, size, false, size < sizeof(Addr));
}

void on_call(ThreadId, UInt number, UWord* args, UInt) {
  if (!no_input || args[0] != 0) return;
  if (number == kRead || number == kReadv || number == kRecvfrom || number == kRecvmsg) {
    // What would come now is not what came the first time.
    VG_(exit)(kInputWasRead);
  }
}
void after_call(ThreadId, UInt, UWord*, UInt, SysRes) {}

// --- Options ---

// What stands behind the option's name, or null.
const HChar* value_of(const HChar* arg, const HChar* name) {
  const SizeT size = VG_(strlen)(name);
  return VG_(strncmp)(arg, name, size) == 0 ? arg + size : nullptr;
}

Bool take_option(const HChar* arg) {
  Bool uses = True;
  if (VG_BOOL_CLO(arg, "--uses", uses)) {
    note_uses = uses;
  } else if (VG_BOOL_CLO(arg, "--no-input", no_input)) {
  } else if (const HChar* mask = value_of(arg, "--pointer-mask="); mask != nullptr) {
    HChar* end = nullptr;
    pointer_mask = static_cast<Addr>(VG_(strtoull16)(mask, &end));
    return *end == 0 && pointer_mask != 0;
  } else if (VG_XACT_CLO(arg, "--on-leak=report-now", on_leak, OnLeak::tell)) {
  } else if (VG_XACT_CLO(arg, "--on-leak=stop", on_leak, OnLeak::stop)) {
  } else if (VG_XACT_CLO(arg, "--on-leak=abort", on_leak, OnLeak::abort)) {
  } else if (VG_XACT_CLO(arg, "--on-leak=gdb", on_leak, OnLeak::gdb)) {
  } else if (const HChar* bytes = value_of(arg, "--leak-threshold="); bytes != nullptr) {
    HChar* end = nullptr;
    leak_threshold = static_cast<SizeT>(VG_(strtoll10)(bytes, &end));
    return *end == 0;
  } else if (const HChar* file = value_of(arg, "--tell-file="); file != nullptr) {
    HChar* end = nullptr;
    tell_file = VG_(safe_fd)(static_cast<Int>(VG_(strtoll10)(file, &end)));
    return *end == 0;
  } else {
    return False;
  }
  return True;
}
void print_usage() {
  VG_(printf)("    --uses=no|yes             note accesses to watched blocks [yes]\n");
  VG_(printf)("    --no-input=no|yes         end when standard input is read [no]\n");
  VG_(printf)("    --on-leak=report-now|stop|abort|gdb   at the moment of a loss\n");
  VG_(printf)("    --leak-threshold=BYTES    ... when that much is lost [1]\n");
  VG_(printf)("    --tell-file=FD            where losses are told [2]\n");
  VG_(printf)("    --pointer-mask=HEX        bits of a word that are an address [all]\n");
}
void print_debug_usage() {}

void after_options() { prepare_threads(); }
void at_end(Int) {}

void before_options() {
  VG_(details_name)("plumb");
  VG_(details_version)("0.1");
  VG_(details_description)("where lost memory was lost");
  VG_(details_copyright_author)("the Plumb authors");
  VG_(details_bug_reports_to)("the Plumb authors");
  VG_(details_avg_translation_sizeB)(400);
  VG_(basic_tool_funcs)(after_options, instrument, at_end);
  VG_(needs_command_line_options)(take_option, print_usage, print_debug_usage);
  VG_(needs_client_requests)(on_request);
  VG_(needs_syscall_wrapper)(on_call, after_call);
  VG_(track_start_client_code)(on_run);
  VG_(track_pre_thread_ll_exit)(on_thread_end);
  VG_(track_die_mem_munmap)(on_unmap);
  VG_(track_die_mem_brk)(on_unmap);
  VG_(track_copy_mem_remap)(on_remap);
  VG_(track_post_mem_write)(on_kernel_write);
  // Registers are known at the bounds of a piece of code: one function each.
  VG_(clo_vex_control).guest_chase = False;
  VG_(clo_vex_control).iropt_unroll_thresh = 0;
}

}  // namespace

}  // namespace plumb::vg

extern "C" {
using plumb::vg::before_options;
VG_DETERMINE_INTERFACE_VERSION(before_options)
}
