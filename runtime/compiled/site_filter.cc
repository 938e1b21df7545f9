#include "compiled/site_filter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "common/memory.h"
#include "common/process.h"
#include "common/spin_lock.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/trace_file.h"

namespace plumb::rt {

bool sites_are_chosen = false;

namespace {

int connection = -1;
SpinLock asking;

// Answers so far, by stack; what does not fit is asked again.
struct Answer {
  uint32_t stack;
  uint32_t chosen;
};
constexpr uint32_t kAnswers = 1u << 14;
Answer* answers = nullptr;

// "offset path" for each frame; the program itself has no path of its own.
size_t write_question(char* text, size_t room, uint32_t stack) {
  const uint64_t* words = trace().stack_words() + stack;
  const PlumbStack& entry = *reinterpret_cast<const PlumbStack*>(words);
  size_t used = 0;
  for (uint32_t i = 0; i < entry.count && i < 24; ++i) {
    const uintptr_t address = words[PLUMB_STACK_WORDS + i];
    dl_find_object object{};
    if (_dl_find_object(reinterpret_cast<void*>(address), &object) != 0) continue;
    const link_map* module = object.dlfo_link_map;
    PathText own;
    own.add("/proc/").add(static_cast<uint64_t>(process().pid)).add("/exe");
    const char* path = module->l_name[0] == 0 ? own.get() : module->l_name;
    const size_t length = strlen(path);
    if (used + length + 24 > room) break;
    char digits[24];
    unsigned count = 0;
    uintptr_t offset = address - module->l_addr;
    do digits[count++] = static_cast<char>('0' + offset % 10);
    while ((offset /= 10) != 0);
    while (count > 0) text[used++] = digits[--count];
    text[used++] = ' ';
    memcpy(text + used, path, length);
    used += length;
    text[used++] = '\n';
  }
  return used;
}

// 'y', 'n', or 0 when there is no answer.
char take_answer() {
  char answer = 0;
  long got = 0;
  do got = sys_call(SYS_read, connection, reinterpret_cast<long>(&answer), 1);
  while (got == -4);
  return got == 1 ? answer : 0;
}

bool ask(uint32_t stack) {
  static char question[8192];
  const size_t size = write_question(question, sizeof question, stack);
  if (size == 0) return false;
  const long sent = sys_call(SYS_sendto, connection, reinterpret_cast<long>(question),
                             static_cast<long>(size), MSG_NOSIGNAL, 0, 0);
  const char answer = sent == static_cast<long>(size) ? take_answer() : 0;
  if (answer == 0) connection = -1;
  return answer != 'n';
}

[[noreturn]] void become_command(const char* command, const char* report, char** environment,
                                 int end) {
  for (int signal = 1; signal < 65; ++signal) {
    KernelAction standard{};
    sys_sigaction(signal, &standard, nullptr);
  }
  sys_sigmask(SIG_SETMASK, 0, nullptr);
  sys_call(SYS_dup2, end, 0);
  const char* arguments[] = {command, "report", "--site-questions", report, nullptr};
  sys_call(SYS_execve, reinterpret_cast<long>(command), reinterpret_cast<long>(arguments),
           reinterpret_cast<long>(environment));
  sys_call(SYS_exit_group, 127);
  __builtin_unreachable();
}

}  // namespace

bool choose_sites(const char* command, const char* report, char** environment) {
  answers = static_cast<Answer*>(own_pages(kAnswers * sizeof *answers));
  int ends[2];
  if (answers == nullptr || command[0] == 0 ||
      is_error(sys_call(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
                        reinterpret_cast<long>(ends)))) {
    return false;
  }
  constexpr int kHigh = 710;  // where programs have nothing
  const long high = sys_call(SYS_fcntl, ends[0], F_DUPFD_CLOEXEC, kHigh);
  if (high >= 0) sys_close(ends[0]);
  connection = high >= 0 ? static_cast<int>(high) : ends[0];
  // No signal to the program when it ends.
  const long child = sys_call(SYS_clone, 0);
  if (child == 0) become_command(command, report, environment, ends[1]);
  sys_close(ends[1]);
  if (child < 0 || take_answer() != 'y') {
    sys_close(connection);
    connection = -1;
    return false;
  }
  sites_are_chosen = true;
  return true;
}

void forget_site_command() {
  if (connection >= 0) sys_close(connection);
  connection = -1;
}

bool ask_about_site(Inside&, uint32_t stack) {
  if (stack == 0) return false;
  Answer& known = answers[stack * 0x9e3779b1u >> 18];
  static_assert(kAnswers == 1u << (32 - 18));
  asking.lock();
  if (known.stack != stack) known = {stack, connection < 0 || ask(stack)};
  const bool chosen = known.chosen != 0;
  asking.unlock();
  return chosen;
}

}  // namespace plumb::rt
