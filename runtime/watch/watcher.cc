#include "watch/watcher.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "common/memory.h"
#include "common/sys.h"
#include "common/task_files.h"
#include "watch/model.h"
#include "watch/rights.h"
#include "watch/server.h"
#include "watch/snapshot_file.h"
#include "watch/snapshot_writer.h"
#include "watch/touches.h"

namespace plumb::rt {

WatchSettings watch_settings;

namespace {

constexpr uint64_t kMilli = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr size_t kStackSize = 256 << 10;
// Bounds on what sampling may cost: samples drawn per second of CPU time, and
// live samples (the mean grows with the heap, so this is their number when the
// heap has reached this many means, and it grows with its logarithm only). Both
// are for the default mean: whoever asks for a finer one pays in proportion.
constexpr double kSamplesPerSecond = 2000;
constexpr double kLiveSamples = 4096;
constexpr double kMostLiveSamples = 32768;
constexpr double kDefaultMean = 64 << 10;
// An epoch costs about this much per touched block; epochs get longer when
// that would be more than 1/200 of the time.
constexpr uint64_t kTouchCost = 2500;
constexpr uint64_t kEpochShare = 200;
constexpr uint64_t kLeastEpochShare = 4;

enum Request : int { kNone = 0, kLast = 1, kShutIn = 2 };
int request = kNone;
// The answer to kShutIn.
enum ShutIn : int { kUnknown = 0, kNobody = 1, kSomebody = 2 };
int shut_in = kUnknown;
int answered = 0;
bool running = false;
int thread_number = 0;

uint64_t clock_now(int clock) {
  timespec now{};
  sys_call(SYS_clock_gettime, clock, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

void wait_for(int* word, int value, uint64_t nanoseconds) {
  timespec time{static_cast<time_t>(nanoseconds / kSecond),
                static_cast<long>(nanoseconds % kSecond)};
  sys_call(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAIT_PRIVATE, value,
           reinterpret_cast<long>(&time));
}

void wake(int* word) {
  sys_call(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAKE_PRIVATE, 1 << 30);
}

// A thread whose file cannot be read has ended.
ShutIn find_shut_in() {
  OwnVector<int> threads;
  ShutIn found = list_threads(threads) ? kNobody : kSomebody;
  for (const int thread : threads) {
    if (task_state(thread).shut_in) found = kSomebody;
  }
  threads.release();
  return found;
}

class Watcher {
 public:
  Watcher() = default;
  explicit Watcher(uint64_t now) : now_(now), epoch_end_(now) {}
  void run();

 private:
  void tick();
  void end_epoch();
  void steer();
  SnapshotFacts facts(uint32_t phase);
  void snapshot(uint32_t phase);
  void keep_pace_with_rights();
  uint64_t pause();

  Touches touches_;
  Server server_;
  SnapshotFile file_;
  bool sees_touches_ = false;
  uint64_t started_ = 0;    // seconds since 1970
  uint64_t begin_ = 0;      // monotonic
  uint64_t now_ = 0;        // CPU time
  uint64_t before_ = 0;     // CPU time at the last tick
  uint64_t epoch_end_ = 0;  // of the last one
  uint64_t epoch_length_ = 0;
  uint64_t epochs_ = 0;
  uint64_t next_snapshot_ = 0;
  uint64_t snapshot_pause_ = 0;
  uint64_t pause_ = 0;
  double allocated_ = 0;
};

void Watcher::run() {
  begin_ = clock_now(CLOCK_MONOTONIC);
  started_ = clock_now(CLOCK_REALTIME) / kSecond;
  epoch_length_ = watch_settings.epoch;
  // The first snapshots come early: a program may not live long.
  snapshot_pause_ = watch_settings.interval / 8;
  next_snapshot_ = begin_ + snapshot_pause_;
  sees_touches_ = touches_.prepare(model().window_address(0));
  if (!sees_touches_) model().limit(PLUMB_WATCH_NO_TOUCHES);
  server_.listen(watch_settings.socket);
  while (true) {
    tick();
    if (__atomic_load_n(&request, __ATOMIC_ACQUIRE) == kLast) {
      end_epoch();
      model().take_back_parted();
      snapshot(PLUMB_WATCH_ENDED);
      server_.close();
      __atomic_store_n(&answered, 1, __ATOMIC_RELEASE);
      wake(&answered);
      return;
    }
    int asked = kShutIn;
    if (__atomic_compare_exchange_n(&request, &asked, kNone, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      __atomic_store_n(&shut_in, find_shut_in(), __ATOMIC_RELEASE);
      wake(&shut_in);
    }
    wait_for(&request, kNone, pause());
  }
}

// Often enough to see births in order; less and less in a program that sleeps.
uint64_t Watcher::pause() {
  uint64_t least = watch_settings.epoch / 4;
  if (least < kMilli) least = kMilli;
  if (least > 250 * kMilli) least = 250 * kMilli;
  const bool sleeps = (now_ - before_) * 20 < pause_;
  pause_ = sleeps ? pause_ * 2 : least;
  if (pause_ < least) pause_ = least;
  if (pause_ > kSecond) pause_ = kSecond;
  return pause_;
}

void Watcher::tick() {
  before_ = now_;
  now_ = model().advance();
  keep_pace_with_rights();
  steer();
  if (now_ - epoch_end_ >= epoch_length_) end_epoch();
  const uint64_t wall = clock_now(CLOCK_MONOTONIC);
  if (wall >= next_snapshot_) {
    snapshot(PLUMB_WATCH_RUNNING);
    snapshot_pause_ *= 2;
    if (snapshot_pause_ > watch_settings.interval) snapshot_pause_ = watch_settings.interval;
    next_snapshot_ = wall + snapshot_pause_;
  }
  server_.serve([&] { return facts(PLUMB_WATCH_RUNNING); });
}

// With the rights of the program, and the file of the snapshots open before they go.
void Watcher::keep_pace_with_rights() {
  Rights wanted;
  if (!rights_differ(wanted)) return;
  if (watch_settings.file[0] != 0) {
    file_.keep_open(watch_settings.file, Snapshot(facts(PLUMB_WATCH_RUNNING)));
  }
  take_rights(wanted);
}

void Watcher::end_epoch() {
  const uint64_t touched = model().touch_count();
  if (sees_touches_) touches_.collect();
  model().add_point(clock_now(CLOCK_MONOTONIC) - begin_);
  epoch_end_ = now_;
  ++epochs_;
  const uint64_t cost = (model().touch_count() - touched) * kTouchCost;
  // Whoever asks for short epochs is ready to pay for them.
  uint64_t share = kEpochShare * watch_settings.epoch / kSecond;
  if (share > kEpochShare) share = kEpochShare;
  if (share < kLeastEpochShare) share = kLeastEpochShare;
  const uint64_t least = cost * share;
  epoch_length_ = least > watch_settings.epoch ? least : watch_settings.epoch;
}

// The mean follows the heap and the rate of allocation: up at once, down by
// half per tick.
void Watcher::steer() {
  const double allocated = model().allocated_bytes();
  double mean = static_cast<double>(watch_settings.mean);
  const double finer = mean < kDefaultMean ? kDefaultMean / mean : 1;
  const double live = kLiveSamples * finer;
  const double by_heap = model().live_bytes() / (live < kMostLiveSamples ? live : kMostLiveSamples);
  if (by_heap > mean) mean = by_heap;
  if (const uint64_t time = now_ - before_; time > 10 * kMilli) {
    const double rate =
        (allocated - allocated_) * static_cast<double>(kSecond) / static_cast<double>(time);
    const double by_rate = rate / (kSamplesPerSecond * finer);
    if (by_rate > mean) mean = by_rate;
  }
  allocated_ = allocated;
  const double half = static_cast<double>(model().mean()) / 2;
  model().set_mean(static_cast<uint64_t>(mean > half ? mean : half));
}

SnapshotFacts Watcher::facts(uint32_t phase) {
  return {phase,   clock_now(CLOCK_MONOTONIC) - begin_, started_, watch_settings.epoch,
          epochs_, clock_now(CLOCK_THREAD_CPUTIME_ID),  ""};
}

void Watcher::snapshot(uint32_t phase) {
  if (watch_settings.file[0] != 0) file_.write(watch_settings.file, Snapshot(facts(phase)));
}

Watcher watcher;

extern "C" __attribute__((used)) void plumb_rt_watch() {
  // Nothing that the program opened stays open because of us.
  sys_call(SYS_close_range, 0, ~0u, 0);
  sys_call(SYS_umask, 077);
  sys_call(SYS_prctl, 15 /* PR_SET_NAME */, reinterpret_cast<long>("plumb-watch"));
  watcher.run();
}

// clone, on the given stack; the new thread runs plumb_rt_watch and ends.
__attribute__((naked)) long start_thread(long /*flags*/, void* /*stack_end*/) {
  __asm__(
      "movl $56, %eax\n\t"
      "xorl %edx, %edx\n\t"
      "xorl %r10d, %r10d\n\t"
      "xorl %r8d, %r8d\n\t"
      "syscall\n\t"
      "testq %rax, %rax\n\t"
      "jz 1f\n\t"
      "ret\n"
      "1:\n\t"
      "xorl %ebp, %ebp\n\t"
      "call plumb_rt_watch\n\t"
      "movl $60, %eax\n\t"
      "xorl %edi, %edi\n\t"
      "syscall\n\t"
      "hlt");
}

}  // namespace

bool start_watcher() {
  model().set_mean(watch_settings.mean);
  const uint64_t finer = watch_settings.mean < kDefaultMean && watch_settings.mean != 0
                             ? static_cast<uint64_t>(kDefaultMean) / watch_settings.mean
                             : 1;
  model().set_most_per_second(static_cast<uint64_t>(2 * kSamplesPerSecond) * finer);
  char* stack = static_cast<char*>(own_pages(kStackSize));
  if (stack == nullptr) return false;
  // The thread inherits the mask: no signal ever goes to it.
  uint64_t old = 0;
  sys_sigmask(SIG_SETMASK, ~uint64_t{0}, &old);
  const long flags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  thread_number = static_cast<int>(start_thread(flags, stack + kStackSize - 64));
  running = thread_number > 0;
  sys_sigmask(SIG_SETMASK, old, nullptr);
  return running;
}

bool restart_watcher() {
  model().go_on_from(model().now());
  watcher = Watcher(model().now());
  request = kNone;
  answered = 0;
  shut_in = kUnknown;
  running = false;
  return start_watcher();
}

bool is_shut_in() {
  if (!running) return true;
  __atomic_store_n(&request, kShutIn, __ATOMIC_RELEASE);
  wake(&request);
  for (int tries = 0; tries < 10 && __atomic_load_n(&shut_in, __ATOMIC_ACQUIRE) == kUnknown;
       ++tries) {
    wait_for(&shut_in, kUnknown, 100 * kMilli);
  }
  return __atomic_load_n(&shut_in, __ATOMIC_ACQUIRE) != kNobody;
}

void take_last_snapshot() {
  if (!running) return;
  __atomic_store_n(&request, kLast, __ATOMIC_RELEASE);
  wake(&request);
  for (int tries = 0; tries < 50 && __atomic_load_n(&answered, __ATOMIC_ACQUIRE) == 0; ++tries) {
    wait_for(&answered, 0, 100 * kMilli);
  }
}

void end_watcher() {
  if (!running) return;
  take_last_snapshot();
  for (int tries = 0; tries < 1000 && sys_tgkill(sys_getpid(), thread_number, 0) == 0; ++tries) {
    sys_sleep(kMilli);
  }
}

void write_problem(PlumbWatchPhase phase, const char* problem) {
  SnapshotFacts facts;
  facts.phase = phase;
  facts.problem = problem;
  SnapshotFile().write(watch_settings.file, Snapshot(facts));
}

}  // namespace plumb::rt
