// A report in the middle: the command asks by a signal, and reads the trace while
// the world is stopped and every block has its verdict. Then the verdicts are taken
// back and the program goes on.
//
// Limit: as for every signal, a call such as poll or sleep that was waiting returns
// early, although its handler is ours.

#include "preload/ask.h"

#include <errno.h>
#include <signal.h>
#include <ucontext.h>

#include "common/inside.h"
#include "common/process.h"
#include "common/scan.h"
#include "common/stop_world.h"
#include "common/sys.h"
#include "common/thread_stacks.h"
#include "common/trace_file.h"

namespace plumb::rt {

namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kPatience = 60'000;  // milliseconds for the command to read the trace

void let_read(void*) {
  PlumbTraceHeader& header = trace().header();
  const uint32_t question = __atomic_load_n(&header.asked, __ATOMIC_ACQUIRE);
  __atomic_store_n(&header.answered, question, __ATOMIC_RELEASE);
  for (uint64_t i = 0; i < kPatience; ++i) {
    if (__atomic_load_n(&header.released, __ATOMIC_ACQUIRE) == question) return;
    sys_sleep(kMillisecond);
  }
}

void on_ask(void* context) {
  if (!is_us() || !tracking()) return;
  if (must_postpone(thread_state)) {
    if (thread_state.signal_wanted == 0) thread_state.signal_wanted = PLUMB_ASK_SIGNAL;
    return;
  }
  const int saved = errno;
  auto* state = static_cast<ucontext_t*>(context);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(state);
  const uintptr_t vectors = reinterpret_cast<uintptr_t>(state->uc_mcontext.fpregs);
  const ScanPoint point{static_cast<uintptr_t>(state->uc_mcontext.gregs[REG_RSP]) - kRedZone,
                        {begin, begin + sizeof *state},
                        {vectors, vectors == 0 ? 0 : vectors + 512}};
  scan_and_go_on(point, let_read, nullptr);
  errno = saved;
}

}  // namespace

void prepare_questions() { listen_for_questions(on_ask); }

}  // namespace plumb::rt
