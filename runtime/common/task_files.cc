#include "common/task_files.h"

#include <string.h>

#include "common/sys.h"
#include "common/text.h"

namespace plumb::rt {

namespace {

struct DirectoryEntry {  // linux_dirent64
  uint64_t inode;
  int64_t offset;
  uint16_t size;
  uint8_t type;
  char name[1];
};

long read_task_file(int tid, const char* name, char* to, size_t size) {
  PathText path;
  path.add("/proc/self/task/").add(static_cast<uint64_t>(tid)).add("/").add(name);
  const long got = sys_read_small(path.get(), to, size - 1);
  to[got > 0 ? got : 0] = 0;
  return got;
}

}  // namespace

bool list_threads(OwnVector<int>& tids) {
  const int directory = sys_open("/proc/self/task");
  if (directory < 0) return false;
  alignas(8) char buffer[4096];
  while (true) {
    const long got =
        sys_call(SYS_getdents64, directory, reinterpret_cast<long>(buffer), sizeof buffer);
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      at += entry->size;
      const char* name = entry->name;
      const uint64_t tid = take_decimal(name);
      if (tid != 0 && *name == 0) tids.push(static_cast<int>(tid));
    }
  }
  sys_close(directory);
  return !tids.failed() && tids.size() != 0;
}

TaskState task_state(int tid) {
  TaskState state{};
  char text[4096];
  if (read_task_file(tid, "status", text, sizeof text) <= 0) return state;
  if (const char* at = strstr(text, "\nState:\t"); at != nullptr) state.letter = at[8];
  if (const char* at = strstr(text, "\nSigBlk:\t"); at != nullptr) {
    at += 9;
    state.blocked = take_hex(at);
  }
  if (const char* at = strstr(text, "\nSeccomp:\t"); at != nullptr) state.shut_in = at[10] != '0';
  return state;
}

bool task_words(int tid, StoppedThread& thread) {
  char text[512];
  if (read_task_file(tid, "syscall", text, sizeof text) <= 0) return false;
  // "NUMBER 0x.. (six arguments) 0xSP 0xPC", "-1 0xSP 0xPC" or "running".
  const char* at = text;
  while ((at = strstr(at, "0x")) != nullptr && thread.word_count < 9) {
    at += 2;
    thread.words[thread.word_count++] = take_hex(at);
  }
  if (thread.word_count < 2) return false;
  thread.stack_pointer = thread.words[thread.word_count - 2];
  return true;
}

}  // namespace plumb::rt
