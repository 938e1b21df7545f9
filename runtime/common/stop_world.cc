#include "common/stop_world.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "common/inside.h"
#include "common/process.h"
#include "common/sys.h"
#include "common/task_files.h"
#include "common/trace_file.h"
#include "trace/record.h"

namespace plumb::rt {

namespace {

constexpr int kStopSignal = PLUMB_ASK_SIGNAL;
constexpr uintptr_t kCookie = 0x706c756d62u;  // tells our signal from libc's own
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kRunningCap = 60'000 * kMillisecond;
constexpr uint64_t kDiskSleepCap = 3'000 * kMillisecond;
constexpr uint64_t kLockSleep = 20 * kMillisecond;
constexpr unsigned kMaxRounds = 25;

struct Answer {
  StoppedThread thread;
  uint32_t ready;  // the generation it belongs to
};

// Odd while a stop is on. Threads wait on it.
uint32_t generation = 0;
Answer* answers = nullptr;
uint32_t answer_limit = 0;
uint32_t answer_count = 0;
KernelAction libc_action{};
bool installed = false;
void (*answer_question)(void*) = nullptr;

uintptr_t own_thread_pointer() {
  uintptr_t self;
  __asm__("movq %%fs:0, %0" : "=r"(self));
  return self;
}

// The kernel says how much it saved behind the classic 512 bytes.
Range vector_range(const ucontext_t* context) {
  const uintptr_t area = reinterpret_cast<uintptr_t>(context->uc_mcontext.fpregs);
  if (area == 0) return {};
  uint32_t extended[2];
  memcpy(extended, reinterpret_cast<const void*>(area + 464), sizeof extended);
  constexpr uint32_t kExtendedMagic = 0x46505853;
  const uint32_t size = extended[0] == kExtendedMagic && extended[1] <= 1 << 16 ? extended[1] : 512;
  return {area, area + size};
}

void on_stop(int signal, siginfo_t* info, void* context) {
  if (answer_question != nullptr && info->si_code == SI_QUEUE &&
      info->si_value.sival_ptr == reinterpret_cast<void*>(PLUMB_ASK_VALUE)) {
    answer_question(context);
    return;
  }
  if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != reinterpret_cast<void*>(kCookie)) {
    if (libc_action.handler != reinterpret_cast<void*>(SIG_DFL) &&
        libc_action.handler != reinterpret_cast<void*>(SIG_IGN)) {
      reinterpret_cast<void (*)(int, siginfo_t*, void*)>(libc_action.handler)(signal, info,
                                                                              context);
    }
    return;
  }
  // Read before the answer is published: after it, a release may come at once.
  const uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
  if (now % 2 == 0) return;  // too late
  if (must_postpone(thread_state)) {
    thread_state.stop_wanted = 1;
    return;
  }
  const uint32_t index = __atomic_fetch_add(&answer_count, 1, __ATOMIC_ACQ_REL);
  if (index < answer_limit) {
    const auto* saved = static_cast<const ucontext_t*>(context);
    const uintptr_t begin = reinterpret_cast<uintptr_t>(saved);
    StoppedThread& thread = answers[index].thread;
    thread = {};
    thread.tid = sys_gettid();
    thread.stack_pointer = static_cast<uintptr_t>(saved->uc_mcontext.gregs[REG_RSP]);
    thread.thread_pointer = own_thread_pointer();
    thread.context = {begin, begin + sizeof *saved};
    thread.vectors = vector_range(saved);
    __atomic_store_n(&answers[index].ready, now, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) == now) {
    sys_call(SYS_futex, reinterpret_cast<long>(&generation), 0 /* FUTEX_WAIT */, now);
  }
}

long send(int tid, uintptr_t value) {
  siginfo_t info{};
  info.si_signo = kStopSignal;
  info.si_code = SI_QUEUE;
  info.si_pid = process().pid;
  info.si_value.sival_ptr = reinterpret_cast<void*>(value);
  while (true) {
    const long result = sys_call(SYS_rt_tgsigqueueinfo, process().pid, tid, kStopSignal,
                                 reinterpret_cast<long>(&info));
    if (result != -11) return result;  // EAGAIN: too many signals are queued
    sys_sleep(kMillisecond);
  }
}

long send_stop(int tid) { return send(tid, kCookie); }

void install_handler() {
  if (installed) return;
  KernelAction action{};
  action.handler = reinterpret_cast<void*>(on_stop);
  action.flags = kActionInfo | kActionOnStack | kActionRestart;
  action.mask = ~uint64_t{0} & ~(signal_bit(SIGSEGV) | signal_bit(SIGBUS));
  sys_sigaction(kStopSignal, &action, &libc_action);
  // It stays: somebody may answer late.
  installed = true;
}

enum class Standing { wanted, answered, gone, asleep };

struct Target {
  int tid;
  Standing standing;
  uint64_t since;     // asked at
  uint64_t sleeping;  // found asleep first at, or 0
};

class Stopper {
 public:
  explicit Stopper(StopResult& result) : result_(result) {}

  // False: somebody waits for a lock that a stopped thread holds.
  bool try_once(bool last) {
    targets_.clear();
    answer_count = 0;
    __atomic_fetch_add(&generation, 1, __ATOMIC_ACQ_REL);
    result_.unanswered = 0;
    result_.all_known = true;
    result_.threads.clear();
    while (ask_new_threads()) {
      if (!await_answers(last)) return false;
    }
    collect();
    return true;
  }

 private:
  // True when there were any.
  bool ask_new_threads() {
    tids_.clear();
    if (!list_threads(tids_)) return false;
    const int self = sys_gettid();
    bool asked = false;
    for (int tid : tids_) {
      if (tid == self || find(tid) != nullptr) continue;
      const bool there = send_stop(tid) == 0;
      targets_.push({tid, there ? Standing::wanted : Standing::gone, sys_nanoseconds(), 0});
      asked = asked || there;
    }
    return asked;
  }

  Target* find(int tid) {
    for (Target& target : targets_) {
      if (target.tid == tid) return &target;
    }
    return nullptr;
  }

  void take_answers() {
    uint32_t count = __atomic_load_n(&answer_count, __ATOMIC_ACQUIRE);
    if (count > answer_limit) count = answer_limit;
    for (; taken_ < count; ++taken_) {
      if (__atomic_load_n(&answers[taken_].ready, __ATOMIC_ACQUIRE) != generation) break;
      if (Target* target = find(answers[taken_].thread.tid); target != nullptr) {
        target->standing = Standing::answered;
      }
    }
  }

  bool await_answers(bool last) {
    taken_ = 0;
    for (unsigned turn = 0;; ++turn) {
      take_answers();
      bool waiting = false;
      for (Target& target : targets_) {
        if (target.standing != Standing::wanted) continue;
        // Looking into /proc is dear: first give it time to answer.
        if (turn >= 20 && turn % 4 == 0 && !look_at(target, last)) return false;
        waiting = waiting || target.standing == Standing::wanted;
      }
      if (!waiting) return true;
      if (turn < 10)
        sys_call(SYS_sched_yield);
      else
        sys_sleep(turn < 100 ? kMillisecond / 10 : kMillisecond);
    }
  }

  // Decides about a thread that has not answered. False: see try_once.
  bool look_at(Target& target, bool last) {
    const uint64_t now = sys_nanoseconds();
    const TaskState state = task_state(target.tid);
    switch (state.letter) {
      case 0:
      case 'Z':
      case 'X':
        target.standing = Standing::gone;
        return true;
      case 'R':
        target.sleeping = 0;
        if (now - target.since > kRunningCap) {
          target.standing = Standing::asleep;
          trace().limit(PLUMB_LIMIT_THREAD_CAP);
        }
        return true;
      default:
        break;
    }
    if (target.sleeping == 0) target.sleeping = now;
    const uint64_t slept = now - target.sleeping;
    if (state.letter == 'T' || state.letter == 't') {
      target.standing = Standing::asleep;
    } else if ((state.blocked & signal_bit(kStopSignal)) != 0) {
      if (slept >= kMillisecond) target.standing = Standing::asleep;
    } else if (state.letter == 'D') {
      if (slept >= kDiskSleepCap) target.standing = Standing::asleep;
    } else if (slept >= kLockSleep) {
      if (!last) return false;
      target.standing = Standing::asleep;
    }
    return true;
  }

  void collect() {
    uint32_t count = __atomic_load_n(&answer_count, __ATOMIC_ACQUIRE);
    if (count > answer_limit) count = answer_limit;
    for (uint32_t i = 0; i < count; ++i) {
      if (answers[i].ready == generation) result_.threads.push(answers[i].thread);
    }
    for (Target& target : targets_) {
      if (target.standing != Standing::asleep) continue;
      StoppedThread thread{};
      thread.tid = target.tid;
      ++result_.unanswered;
      if (!task_words(target.tid, thread)) result_.all_known = false;
      result_.threads.push(thread);
    }
  }

  StopResult& result_;
  OwnVector<int> tids_;
  OwnVector<Target> targets_;
  uint32_t taken_ = 0;
};

}  // namespace

void stop_world(StopResult& result) {
  OwnVector<int> tids;
  if (!list_threads(tids) || (tids.size() == 1 && tids[0] == sys_gettid())) return;
  install_handler();
  const uint32_t limit = static_cast<uint32_t>(tids.size() * 2 + 1024);
  if (answer_limit < limit) {
    Answer* room = static_cast<Answer*>(own_pages(limit * sizeof(Answer)));
    if (room == nullptr) {
      result.all_known = false;
      return;
    }
    answers = room;
    answer_limit = limit;
  }
  Stopper stopper(result);
  while (!stopper.try_once(result.rounds + 1 >= kMaxRounds)) {
    ++result.rounds;
    release_world();
    sys_sleep(kMillisecond);
  }
  ++result.rounds;
}

void release_world() {
  if (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) % 2 == 0) return;
  __atomic_fetch_add(&generation, 1, __ATOMIC_ACQ_REL);
  sys_call(SYS_futex, reinterpret_cast<long>(&generation), 1 /* FUTEX_WAKE */, INT32_MAX);
}

void listen_for_questions(void (*on_ask)(void*)) {
  answer_question = on_ask;
  install_handler();
}
void listen_again() {
  if (answer_question == nullptr) return;
  KernelAction now{};
  sys_sigaction(kStopSignal, nullptr, &now);
  if (now.handler == reinterpret_cast<void*>(on_stop)) return;
  installed = false;
  install_handler();
}
void ask_again() { send(sys_gettid(), PLUMB_ASK_VALUE); }

void stop_if_wanted() {
  thread_state.stop_wanted = 0;
  if (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) % 2 == 1) send_stop(sys_gettid());
}

}  // namespace plumb::rt
