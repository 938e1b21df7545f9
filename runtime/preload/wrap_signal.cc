// Signals that end the program: scan first, then let it end as it would have.
//
// Our handler stands where the default action was, and nobody is to notice:
// whoever asks is told "default", and whoever sets the default gets our
// handler. Stack overflow has no stack left for a handler (unless the program
// has a signal stack): then the trace says what was alive, no more.

#include <errno.h>
#include <signal.h>
#include <ucontext.h>

#include "common/inside.h"
#include "common/process.h"
#include "common/scan.h"
#include "common/stop_world.h"
#include "common/sys.h"
#include "common/thread_stacks.h"
#include "preload/end.h"
#include "preload/export.h"
#include "trace/record.h"

extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*);

using namespace plumb::rt;

namespace {

constexpr int kSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,    SIGABRT, SIGBUS,  SIGFPE,
                            SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,   SIGALRM, SIGTERM, SIGXCPU,
                            SIGXFSZ, SIGSYS,  SIGPOLL, SIGVTALRM, SIGPROF};
bool managing = false;

bool is_managed(int signal) {
  if (!managing) return false;
  for (int candidate : kSignals) {
    if (candidate == signal) return true;
  }
  return false;
}

// The instruction itself failed, and will fail again.
bool is_fault(int signal, const siginfo_t* info) {
  return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
                               signal == SIGILL || signal == SIGSYS);
}

void on_fatal(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool fault = is_fault(signal, info);
  if (is_us()) {
    // abort does not come back; everything else can wait until we are done.
    if (must_postpone(thread_state) && !fault && signal != SIGABRT) {
      thread_state.signal_wanted = signal;
      return;
    }
    auto* state = static_cast<ucontext_t*>(context);
    const uintptr_t begin = reinterpret_cast<uintptr_t>(state);
    const uintptr_t vectors = reinterpret_cast<uintptr_t>(state->uc_mcontext.fpregs);
    const uintptr_t stack_pointer = static_cast<uintptr_t>(state->uc_mcontext.gregs[REG_RSP]);
    ScanPoint point{stack_pointer - kRedZone,
                    {begin, begin + sizeof *state},
                    {vectors, vectors == 0 ? 0 : vectors + 512}};
    if (signal == SIGABRT) where_abort_was_called(stack_pointer, point);
    scan_at_end(PLUMB_END_SIGNAL, static_cast<uint32_t>(signal), "", point);
    while (scan_is_on()) sys_sleep(1'000'000);  // another thread was first
    release_world();
  }
  KernelAction standard{};
  sys_sigaction(signal, &standard, nullptr);
  if (!fault) sys_tgkill(sys_getpid(), sys_gettid(), signal);
  errno = saved;
}

struct sigaction our_action() {
  struct sigaction action{};
  action.sa_sigaction = on_fatal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  return action;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_fatal;
}

bool is_default(const struct sigaction& action) { return action.sa_handler == SIG_DFL; }

}  // namespace

namespace plumb::rt {

void prepare_signals() {
  const struct sigaction ours = our_action();
  for (int signal : kSignals) {
    struct sigaction now{};
    if (__sigaction(signal, nullptr, &now) == 0 && is_default(now)) {
      __sigaction(signal, &ours, nullptr);
    }
  }
  managing = true;
}

void deliver_postponed(ThreadState& state) {
  if (must_postpone(state)) return;
  if (state.stop_wanted != 0) stop_if_wanted();
  if (const int signal = state.signal_wanted; signal != 0) {
    state.signal_wanted = 0;
    if (signal == PLUMB_ASK_SIGNAL)
      ask_again();
    else
      sys_tgkill(sys_getpid(), sys_gettid(), signal);
  }
}

}  // namespace plumb::rt

PLUMB_EXPORT int sigaction(int signal, const struct sigaction* action,
                           struct sigaction* old) noexcept {
  if (!is_managed(signal)) return __sigaction(signal, action, old);
  struct sigaction before{};
  const struct sigaction ours = our_action();
  const bool wants_default = action != nullptr && is_default(*action);
  const int result = __sigaction(signal, wants_default ? &ours : action, &before);
  if (result == 0 && old != nullptr) {
    if (is_ours(before)) before = {};
    *old = before;
  }
  return result;
}

PLUMB_EXPORT void (*signal(int number, void (*handler)(int)) noexcept)(int) {
  if (!is_managed(number)) return real().signal(number, handler);
  struct sigaction before{};
  if (__sigaction(number, nullptr, &before) != 0) return SIG_ERR;
  if (handler == SIG_DFL) {
    const struct sigaction ours = our_action();
    __sigaction(number, &ours, nullptr);
  } else if (real().signal(number, handler) == SIG_ERR) {
    return SIG_ERR;
  }
  return is_ours(before) ? SIG_DFL : before.sa_handler;
}
