#include "run/ask.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <csignal>
#include <thread>
#include <utility>

#include "trace/record.h"

namespace plumb {

namespace {

constexpr std::chrono::seconds kPatience{30};

bool send_question(pid_t pid) {
  siginfo_t info{};
  info.si_signo = PLUMB_ASK_SIGNAL;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(PLUMB_ASK_VALUE);
  return syscall(SYS_rt_sigqueueinfo, pid, PLUMB_ASK_SIGNAL, &info) == 0;
}

Result<Trace> trace_so_far(const TraceMemory& memory) {
  Result<TraceMemory> copy = memory.second_look();
  if (!copy) return std::unexpected(copy.error());
  const Result<std::span<const std::byte>> bytes = copy->bytes();
  if (!bytes) return std::unexpected(bytes.error());
  return read_trace(*bytes, "the program's trace");
}

void wait_while(const std::uint32_t* word, std::uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT, value, nullptr, nullptr, 0);
}

}  // namespace

SharedHeader::SharedHeader(int fd)
    : map_(mmap(nullptr, sizeof(PlumbTraceHeader), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) {}

SharedHeader::~SharedHeader() {
  if (map_ != MAP_FAILED) munmap(map_, sizeof(PlumbTraceHeader));
}

PlumbTraceHeader* SharedHeader::get() const {
  return map_ == MAP_FAILED ? nullptr : static_cast<PlumbTraceHeader*>(map_);
}

ReportWishes::ReportWishes(const TraceMemory& memory, std::function<void(const Trace&)> told)
    : memory_(memory), header_(memory.fd()), told_(std::move(told)) {
  if (PlumbTraceHeader* header = header_.get(); header != nullptr) {
    __atomic_store_n(&header->report_wish, PLUMB_REPORT_READY, __ATOMIC_RELEASE);
  }
}

ReportWishes::~ReportWishes() { stop(); }

void ReportWishes::start() {
  if (header_.get() == nullptr || thread_.joinable()) return;
  // Signals are for the thread that waits for the program.
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  thread_ = std::thread([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void ReportWishes::stop() {
  PlumbTraceHeader* header = header_.get();
  if (header == nullptr) return;
  __atomic_store_n(&header->report_wish, PLUMB_REPORT_NOBODY, __ATOMIC_RELEASE);
  syscall(SYS_futex, &header->report_wish, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  if (thread_.joinable()) thread_.join();
}

void ReportWishes::serve() {
  std::uint32_t* wish = &header_.get()->report_wish;
  while (true) {
    std::uint32_t now = __atomic_load_n(wish, __ATOMIC_ACQUIRE);
    if (now == PLUMB_REPORT_NOBODY) return;
    if (now != PLUMB_REPORT_WANTED) {
      wait_while(wish, now);
      continue;
    }
    if (const Result<Trace> trace = trace_so_far(memory_)) told_(*trace);
    // Not when it was ended meanwhile.
    __atomic_compare_exchange_n(wish, &now, PLUMB_REPORT_READY, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
  }
}

Result<Trace> ask_program(pid_t pid, const TraceMemory& memory) {
  const SharedHeader shared(memory.fd());
  PlumbTraceHeader* header = shared.get();
  if (header == nullptr ||
      __atomic_load_n(&header->phase, __ATOMIC_ACQUIRE) != PLUMB_PHASE_RUNNING) {
    return fail({}, "the program is not tracked, or is ending");
  }
  const std::uint32_t question = header->asked + 1;
  __atomic_store_n(&header->asked, question, __ATOMIC_RELEASE);
  bool answered = false;
  if (send_question(pid)) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!answered && std::chrono::steady_clock::now() < end && kill(pid, 0) == 0) {
      answered = __atomic_load_n(&header->answered, __ATOMIC_ACQUIRE) == question;
      const std::uint32_t phase = __atomic_load_n(&header->phase, __ATOMIC_ACQUIRE);
      if (!answered && phase == PLUMB_PHASE_DONE &&
          __atomic_load_n(&header->end, __ATOMIC_ACQUIRE) != PLUMB_END_UNKNOWN) {
        break;  // that was the end
      }
      if (!answered) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  Result<Trace> trace = answered ? trace_so_far(memory) : fail({}, "the program did not answer");
  __atomic_store_n(&header->released, question, __ATOMIC_RELEASE);
  return trace;
}

}  // namespace plumb
