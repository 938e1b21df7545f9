#include "run/ask.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "trace/record.h"

namespace plumb {

namespace {

constexpr std::chrono::seconds kPatience{30};

// The header as both sides see it.
class SharedHeader {
 public:
  explicit SharedHeader(int fd)
      : map_(mmap(nullptr, sizeof(PlumbTraceHeader), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) {}
  ~SharedHeader() {
    if (map_ != MAP_FAILED) munmap(map_, sizeof(PlumbTraceHeader));
  }
  SharedHeader(const SharedHeader&) = delete;
  SharedHeader& operator=(const SharedHeader&) = delete;

  PlumbTraceHeader* get() const {
    return map_ == MAP_FAILED ? nullptr : static_cast<PlumbTraceHeader*>(map_);
  }

 private:
  void* map_;
};

bool send_question(pid_t pid) {
  siginfo_t info{};
  info.si_signo = PLUMB_ASK_SIGNAL;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(PLUMB_ASK_VALUE);
  return syscall(SYS_rt_sigqueueinfo, pid, PLUMB_ASK_SIGNAL, &info) == 0;
}

}  // namespace

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
  Result<Trace> trace = [&]() -> Result<Trace> {
    if (!answered) return fail({}, "the program did not answer");
    Result<TraceMemory> copy = memory.second_look();
    if (!copy) return std::unexpected(copy.error());
    const Result<std::span<const std::byte>> bytes = copy->bytes();
    if (!bytes) return std::unexpected(bytes.error());
    return read_trace(*bytes, "the program's trace");
  }();
  __atomic_store_n(&header->released, question, __ATOMIC_RELEASE);
  return trace;
}

}  // namespace plumb
