#include "common/scan.h"

#include <signal.h>

#include "common/address_limit.h"
#include "common/annotations.h"
#include "common/block_index.h"
#include "common/block_table.h"
#include "common/heap_layout.h"
#include "common/maps.h"
#include "common/mark.h"
#include "common/own_stack.h"
#include "common/placement.h"
#include "common/process.h"
#include "common/roots.h"
#include "common/safe_copy.h"
#include "common/stop_world.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/thread_stacks.h"
#include "common/trace_file.h"
#include "common/watcher.h"

namespace plumb::rt {

ScanHooks scan_hooks{};

namespace {

enum Progress : int { kNotYet, kOn, kOver };
int progress = kNotYet;
int scanner = 0;  // thread
uint64_t old_mask = 0;

// What the steps of one scan hand to each other; static, since a fault may cut
// the scan short anywhere.
struct Work {
  StopResult stopped;
  OwnVector<Mapping> mappings;
  OwnVector<Range> excluded;
  BlockIndex index;
  bool is_end = true;
};
Work* work = nullptr;
alignas(Work) char work_room[sizeof(Work)];

LiftedLimit address_limit(RLIMIT_AS);
LiftedLimit file_limit(RLIMIT_NOFILE);

uintptr_t own_thread_pointer() {
  uintptr_t self;
  __asm__("movq %%fs:0, %0" : "=r"(self));
  return self;
}

void mark_threads(Marker& marker, const ScanPoint& point) {
  marker.mark_range(point.registers);
  marker.mark_range(point.vectors);
  stack_t signal_stack{};
  if (sys_call(SYS_sigaltstack, 0, reinterpret_cast<long>(&signal_stack)) == 0) {
    marker.mark_value(reinterpret_cast<uintptr_t>(signal_stack.ss_sp));
  }
  for (StoppedThread& thread : work->stopped.threads) {
    marker.mark_range(thread.context);  // holds the signal stack, too
    marker.mark_range(thread.vectors);
    for (unsigned i = 0; i < thread.word_count; ++i) marker.mark_value(thread.words[i]);
  }
}

// What the program told us to keep.
void mark_annotated(Marker& marker) {
  for (uint32_t i = 1; i < block_table().end(); ++i) {
    const PlumbBlock& block = block_table().entry(i);
    const bool kept = block.state != PLUMB_BLOCK_FREE && (block.flags & PLUMB_BLOCK_IGNORED) != 0;
    if (kept) marker.mark_value(block.address);
  }
  for (size_t i = 0; i < root_count(); ++i) marker.mark_range(root_range(i));
}

struct RootVisit {
  Marker* marker;
  uint64_t bytes;
};
void visit_root(void* context, Range range) {
  RootVisit& visit = *static_cast<RootVisit*>(context);
  visit.bytes += range.size();
  visit.marker->mark_range(range);
}

// 0, or the PlumbProblem that ended it.
uint32_t give_verdicts(const ScanPoint& point) {
  PlumbTraceHeader& header = trace().header();
  if (!read_maps(work->mappings)) return PLUMB_PROBLEM_NO_MAPS;
  if (scan_hooks.fill != nullptr && !scan_hooks.fill()) return PLUMB_PROBLEM_OUT_OF_MEMORY;
  if (!list_custom_blocks()) return PLUMB_PROBLEM_OUT_OF_MEMORY;
  if (!work->index.build(block_table())) return PLUMB_PROBLEM_OUT_OF_MEMORY;
  Marker marker(block_table(), work->index);
  if (!marker.prepare()) return PLUMB_PROBLEM_OUT_OF_MEMORY;

  allocator_ranges(work->mappings, work->excluded);
  dead_stack_ranges(work->stopped, point.stack_pointer, own_thread_pointer(), work->mappings,
                    work->excluded);
  work->excluded.push(own_module());
  for (size_t i = 0; i < own_range_count(); ++i) work->excluded.push(own_range(i));
  for (size_t i = 0; i < work->index.custom_count(); ++i) {
    work->excluded.push(work->index.custom_range(i));
  }
  if (work->excluded.failed()) return PLUMB_PROBLEM_OUT_OF_MEMORY;
  normalise(work->excluded);

  mark_annotated(marker);
  mark_threads(marker, point);
  RootVisit roots{&marker, 0};
  RootWalk(work->mappings, work->excluded).visit(visit_root, &roots);
  if (!marker.sort_out_lost()) return PLUMB_PROBLEM_OUT_OF_MEMORY;
  header.root_bytes = roots.bytes;
  header.scanned_bytes = marker.scanned_bytes();
  marker.release();
  if (work->is_end && scan_hooks.judged != nullptr) scan_hooks.judged();
  return PLUMB_PROBLEM_NONE;
}

// Whatever the scan had written, nothing is known about any block.
void take_back_verdicts() {
  for (uint32_t index = 1; index < block_table().end(); ++index) {
    PlumbBlock& block = block_table().entry(index);
    if (block.state == PLUMB_BLOCK_FREE) continue;
    block.state = PLUMB_BLOCK_LIVE;
    block.leader = 0;
  }
}

uint32_t guarded_verdicts(const ScanPoint& point) {
  FaultGuard guard;
  if (PLUMB_RT_FAULTED()) return PLUMB_PROBLEM_SCAN_FAULT;
  return give_verdicts(point);
}

}  // namespace

const BlockIndex& scan_index() { return work->index; }

bool scan_is_on() { return __atomic_load_n(&progress, __ATOMIC_ACQUIRE) == kOn; }
bool scan_is_over() { return __atomic_load_n(&progress, __ATOMIC_ACQUIRE) == kOver; }

namespace {

struct Judging {
  const ScanPoint& point;
  uint64_t begin;  // when
  uint32_t problem;
};

void stop_and_judge(void* argument) {
  auto& judging = *static_cast<Judging*>(argument);
  PlumbTraceHeader& header = trace().header();
  stop_world(work->stopped);
  header.threads_stopped = static_cast<uint32_t>(work->stopped.threads.size());
  header.threads_unanswered = work->stopped.unanswered;
  header.stop_rounds = work->stopped.rounds;
  header.stop_nanoseconds = sys_nanoseconds() - judging.begin;
  set_tracking(false);
  judging.problem = guarded_verdicts(judging.point);
}

bool scan(uint32_t end, uint32_t detail, const char* text, const ScanPoint& point, bool is_end) {
  if (!is_us() || !tracking()) return false;
  int expected = kNotYet;
  if (!__atomic_compare_exchange_n(&progress, &expected, kOn, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    return false;
  }
  const uint64_t begin = sys_nanoseconds();
  scanner = sys_gettid();
  // No handler of the program's may run here: it could allocate.
  sys_sigmask(SIG_SETMASK, ~(signal_bit(SIGSEGV) | signal_bit(SIGBUS)), &old_mask);
  PlumbTraceHeader& header = trace().header();
  header.end = end;
  header.end_detail = detail;
  copy_text(header.end_text, sizeof header.end_text, text);
  header.phase = PLUMB_PHASE_SCANNING;

  if (watching()) {  // the tool knows all threads, and nobody runs while it looks
    set_tracking(false);
    watch_verdicts(point);
    __atomic_store_n(&header.phase, PLUMB_PHASE_DONE, __ATOMIC_RELEASE);
    __atomic_store_n(&progress, kOver, __ATOMIC_RELEASE);
    sys_sigmask(SIG_SETMASK, old_mask, nullptr);
    return true;
  }
  address_limit.lift();
  file_limit.lift();
  release_scan_room();
  work = new (work_room) Work;
  work->is_end = is_end;
  Judging judging{point, begin, PLUMB_PROBLEM_NONE};
  run_on_own_stack(stop_and_judge, &judging);
  const uint32_t problem = judging.problem;
  file_limit.restore();
  if (problem != PLUMB_PROBLEM_NONE) take_back_verdicts();
  header.problem = problem;
  header.scan_nanoseconds = sys_nanoseconds() - begin;
  __atomic_store_n(&header.phase, PLUMB_PHASE_DONE, __ATOMIC_RELEASE);
  if (is_end && scan_hooks.finished != nullptr) scan_hooks.finished();
  __atomic_store_n(&progress, kOver, __ATOMIC_RELEASE);
  sys_sigmask(SIG_SETMASK, old_mask, nullptr);
  return true;
}

}  // namespace

bool scan_at_end(uint32_t end, uint32_t detail, const char* text, const ScanPoint& point) {
  return scan(end, detail, text, point, true);
}

bool scan_and_go_on(const ScanPoint& point, void (*use)(void*), void* context) {
  if (watching()) return false;
  while (is_us() && tracking()) {
    if (scan(PLUMB_END_UNKNOWN, 0, "", point, false)) {
      if (trace().header().problem == PLUMB_PROBLEM_NONE) use(context);
      resume_after_scan();
      return true;
    }
    sys_sleep(1'000'000);  // another thread looks right now
  }
  return false;
}

bool pause_world(StopResult& stopped) {
  int expected = kNotYet;
  if (!__atomic_compare_exchange_n(&progress, &expected, kOn, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    return false;
  }
  stop_world(stopped);
  return true;
}

void go_on() {
  __atomic_store_n(&progress, kNotYet, __ATOMIC_RELEASE);
  release_world();
}

void resume_after_scan() {
  address_limit.restore();
  take_back_verdicts();
  if (work == nullptr) work = new (work_room) Work;
  work->index.release();
  work->stopped.threads.release();
  work->mappings.release();
  work->excluded.release();
  PlumbTraceHeader& header = trace().header();
  header.end = PLUMB_END_UNKNOWN;
  header.end_text[0] = 0;
  header.phase = PLUMB_PHASE_RUNNING;
  if (scan_hooks.resumed != nullptr) scan_hooks.resumed();
  set_tracking(true);
  __atomic_store_n(&progress, kNotYet, __ATOMIC_RELEASE);
  release_world();
}

}  // namespace plumb::rt
