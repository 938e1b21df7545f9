#include "watch/rights.h"

#include "common/sys.h"
#include "common/text.h"

namespace plumb::rt {

namespace {

const char* find_line(const char* text, const char* name) {
  while (*text != 0) {
    if (const char* value = after(text, name); value != nullptr) return value;
    while (*text != 0 && *text != '\n') ++text;
    if (*text == '\n') ++text;
  }
  return nullptr;
}

uint64_t take_number(const char*& at) {
  while (*at == '\t' || *at == ' ') ++at;
  return take_decimal(at);
}

bool read_ids(const char* text, const char* name, Ids& ids) {
  const char* at = find_line(text, name);
  if (at == nullptr) return false;
  ids.real = take_number(at);
  ids.effective = take_number(at);
  ids.saved = take_number(at);
  return true;
}

void read_groups(const char* text, Rights& rights) {
  const char* at = find_line(text, "Groups:");
  if (at == nullptr) return;
  while (rights.group_count < 64) {
    while (*at == '\t' || *at == ' ') ++at;
    if (*at < '0' || *at > '9') break;
    rights.groups[rights.group_count++] = static_cast<unsigned>(take_decimal(at));
  }
}

bool read_rights(const char* path, Rights& rights) {
  char text[4096];
  const long got = sys_read_small(path, text, sizeof text - 1);
  if (got <= 0) return false;
  text[got] = 0;
  read_groups(text, rights);
  return read_ids(text, "Uid:", rights.user) && read_ids(text, "Gid:", rights.group);
}

}  // namespace

bool rights_differ(Rights& wanted) {
  Rights own;
  return read_rights("/proc/self/status", wanted) && read_rights("/proc/thread-self/status", own) &&
         (wanted.user != own.user || wanted.group != own.group);
}

void take_rights(const Rights& wanted) {
  sys_call(SYS_setgroups, wanted.group_count, reinterpret_cast<long>(wanted.groups));
  sys_call(SYS_setresgid, static_cast<long>(wanted.group.real),
           static_cast<long>(wanted.group.effective), static_cast<long>(wanted.group.saved));
  sys_call(SYS_setresuid, static_cast<long>(wanted.user.real),
           static_cast<long>(wanted.user.effective), static_cast<long>(wanted.user.saved));
}

}  // namespace plumb::rt
