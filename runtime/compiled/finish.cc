#include "compiled/finish.h"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/block_table.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/trace_file.h"
#include "compiled/accesses.h"
#include "compiled/fork.h"
#include "compiled/options.h"
#include "compiled/site_filter.h"

namespace plumb::rt {

namespace {

char command[4096];
char** start_environment = nullptr;
bool silent = false;
int errors = 2;  // standard error, or what it was before the program closed it

bool write_all(int file, const void* data, uint64_t size, uint64_t offset) {
  const char* at = static_cast<const char*>(data);
  while (size != 0) {
    const long done = sys_call(SYS_pwrite64, file, reinterpret_cast<long>(at),
                               static_cast<long>(size), static_cast<long>(offset));
    if (done <= 0) return false;
    at += done;
    offset += static_cast<uint64_t>(done);
    size -= static_cast<uint64_t>(done);
  }
  return true;
}

// The trace without its holes.
bool write_trace(int file) {
  PlumbTraceHeader header = trace().header();
  uint64_t offset = page_up(sizeof header);
  const char* base = reinterpret_cast<const char*>(&trace().header());
  for (PlumbSection& section : header.sections) {
    const uint64_t used = section.used < section.capacity ? section.used : section.capacity;
    const uint64_t bytes = used * section.item_size;
    if (bytes != 0 && !write_all(file, base + section.offset, bytes, offset)) return false;
    section.offset = offset;
    section.used = section.capacity = used;
    offset = page_up(offset + bytes);
  }
  return write_all(file, &header, sizeof header, 0);
}

bool anything_lost() {
  BlockTable& table = block_table();
  for (uint32_t i = 1; i < table.end(); ++i) {
    const PlumbBlock& block = table.entry(i);
    if (block.state == PLUMB_BLOCK_DIRECT && (block.flags & PLUMB_BLOCK_EXCLUDED) == 0) return true;
  }
  return false;
}

// The environment of the command: PLUMB_OPTIONS with the suppressions that the
// program brings for LeakSanitizer. `file` has their text, or is negative.
constexpr unsigned kMaxVariables = 4096;
char options_text[8192];
char* command_environment[kMaxVariables];

char** environment_with_suppressions(int file) {
  const char* named = options().lsan_suppressions;
  if (file < 0 && named[0] == 0) return start_environment;
  size_t used = 0;
  const auto add = [&used](const char* text) {
    copy_text(options_text + used, sizeof options_text - used, text);
    used += strlen(options_text + used);
  };
  add("PLUMB_OPTIONS=");
  unsigned count = 0;
  for (char** at = start_environment; *at != nullptr && count + 2 < kMaxVariables; ++at) {
    if (const char* value = after(*at, "PLUMB_OPTIONS="); value != nullptr)
      add(value);
    else
      command_environment[count++] = *at;
  }
  if (file >= 0) {
    PathText path;
    path.add(":suppressions=/proc/")
        .add(static_cast<uint64_t>(sys_getpid()))
        .add("/fd/")
        .add(static_cast<uint64_t>(file));
    add(path.get());
  }
  if (named[0] != 0) {
    add(":suppressions=\"");
    add(named);
    add("\"");
  }
  command_environment[count++] = options_text;
  command_environment[count] = nullptr;
  return command_environment;
}

// A file with the text of __lsan_default_suppressions, or -1.
int suppressions_file() {
  const char* text = lsan_default_suppressions();
  if (text == nullptr || *text == 0) return -1;
  const long file = sys_call(SYS_memfd_create, reinterpret_cast<long>("lsan-suppressions"), 1);
  if (file < 0) return -1;
  if (write_all(static_cast<int>(file), text, strlen(text), 0)) return static_cast<int>(file);
  sys_close(static_cast<int>(file));
  return -1;
}

// Runs the command on the trace; its exit status, or -1.
int run_command(int file) {
  char path[64];
  {
    PathText text;
    text.add("/proc/")
        .add(static_cast<uint64_t>(sys_getpid()))
        .add("/fd/")
        .add(static_cast<uint64_t>(file));
    copy_text(path, sizeof path, text.get());
  }
  const char* arguments[] = {command, "report", "--ended-program", path, nullptr};
  const int suppressions = suppressions_file();
  char** environment = environment_with_suppressions(suppressions);
  // No signal to the program when it ends.
  const long child = sys_call(SYS_clone, 0);
  if (child == 0) {
    for (int signal = 1; signal < 65; ++signal) {
      KernelAction standard{};
      sys_sigaction(signal, &standard, nullptr);
    }
    sys_sigmask(SIG_SETMASK, 0, nullptr);
    if (errors != 2) sys_call(SYS_dup2, errors, 2);
    sys_call(SYS_execve, reinterpret_cast<long>(command), reinterpret_cast<long>(arguments),
             reinterpret_cast<long>(environment));
    sys_call(SYS_exit_group, 127);
  }
  int status = 0;
  while (child >= 0 &&
         sys_call(SYS_wait4, child, reinterpret_cast<long>(&status), __WALL, 0) == -4) {
  }
  if (suppressions >= 0) sys_close(suppressions);
  if (child < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The program's own status gives way only when asked.
void end_with_code() {
  const uint32_t end = trace().header().end;
  if (end == PLUMB_END_SIGNAL || end == PLUMB_END_EXEC) return;
  if (end == PLUMB_END_EXIT) fflush(nullptr);
  sys_call(SYS_exit_group, options().exit_code);
}

}  // namespace

void complain(const char* text) {
  sys_call(SYS_write, errors, reinterpret_cast<long>("plumb: "), 7);
  sys_call(SYS_write, errors, reinterpret_cast<long>(text), static_cast<long>(strlen(text)));
  sys_call(SYS_write, errors, reinterpret_cast<long>("\n"), 1);
}

void prepare_report(char** environment) {
  start_environment = environment;
  dl_find_object object{};
  if (_dl_find_object(reinterpret_cast<void*>(&prepare_report), &object) != 0) return;
  // PREFIX/lib/plumb/libplumb_cc.so -> PREFIX/bin/plumb
  copy_text(command, sizeof command - 16, object.dlfo_link_map->l_name);
  for (int level = 0; level < 3; ++level) {
    char* slash = strrchr(command, '/');
    if (slash == nullptr) {
      command[0] = 0;
      return;
    }
    *slash = 0;
  }
  strcat(command, "/bin/plumb");
}

void prepare_sites() {
  if (options().sites[0] == 0) return;
  if (choose_sites(command, options().sites, start_environment)) {
    trace().limit(PLUMB_LIMIT_SITES);
  } else {
    complain("the report of sites= is of no use: every block is tracked");
  }
}

void keep_errors_open() {
  constexpr int kHigh = 700;  // where programs have nothing
  const long copy = sys_call(SYS_fcntl, 2, F_DUPFD_CLOEXEC, kHigh);
  if (copy >= 0) errors = static_cast<int>(copy);
}

namespace {

// The command's exit status; 0 when there was nothing to say.
int report(bool lost) {
  if (!lost && !options().has_output && options().trace[0] == 0) return 0;
  const long file = sys_call(SYS_memfd_create, reinterpret_cast<long>("plumb-trace"), 1);
  if (file < 0 || !write_trace(static_cast<int>(file))) {
    complain("no room for the trace: no report of leaks");
    return 0;
  }
  if (options().trace[0] != 0) {
    const long kept = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(options().trace),
                               O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (kept < 0 || !write_trace(static_cast<int>(kept)))
      complain("the raw records could not be written to the file of trace=");
    if (kept >= 0) sys_close(static_cast<int>(kept));
  }
  const int status = command[0] == 0 ? 127 : run_command(static_cast<int>(file));
  sys_close(static_cast<int>(file));
  if (status == 127 || status == -1) {
    complain(
        "memory was lost, but the command that writes the report cannot be run (is there a "
        "chroot?);");
    complain("install plumb again, or keep the raw records with PLUMB_OPTIONS=trace=FILE");
  }
  return status;
}

// Only the end knows that no library brought them. Children would say it again.
void say_what_is_missing() {
  if (options().last_use != LastUse::access || accesses_are_built() || process_epoch() != 0) return;
  complain("last_use=access: nothing here was compiled with -fplumb=access; accesses are not seen");
}

}  // namespace

void say_nothing_more() { silent = true; }

bool write_report_now() {
  const bool lost = anything_lost();
  report(lost);
  return lost;
}

void write_report() {
  if (silent || lsan_is_turned_off()) return;
  say_what_is_missing();
  if (trace().header().problem != PLUMB_PROBLEM_NONE) {
    complain(
        "what this program lost is not known: its memory could not be looked at when it ended");
  }
  const bool lost = trace().header().problem == PLUMB_PROBLEM_NONE && anything_lost();
  if (report(lost) == 1 && options().exit_code >= 0) end_with_code();
}

}  // namespace plumb::rt
