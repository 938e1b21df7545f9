#include "watch/rights.h"

#include "common/sys.h"
#include "common/text.h"

namespace plumb::rt {

namespace {

struct Ids {
  uint64_t real = 0;
  uint64_t effective = 0;
  uint64_t saved = 0;
  bool operator==(const Ids&) const = default;
};
struct Rights {
  Ids user;
  Ids group;
  bool operator==(const Rights&) const = default;
};

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

bool read_rights(const char* path, char (&text)[4096], Rights& rights) {
  const long got = sys_read_small(path, text, sizeof text - 1);
  if (got <= 0) return false;
  text[got] = 0;
  return read_ids(text, "Uid:", rights.user) && read_ids(text, "Gid:", rights.group);
}

void take_groups(const char* text) {
  const char* at = find_line(text, "Groups:");
  if (at == nullptr) return;
  unsigned groups[64];
  long count = 0;
  while (count < 64) {
    while (*at == '\t' || *at == ' ') ++at;
    if (*at < '0' || *at > '9') break;
    groups[count++] = static_cast<unsigned>(take_decimal(at));
  }
  sys_call(SYS_setgroups, count, reinterpret_cast<long>(groups));
}

}  // namespace

void follow_rights() {
  char first_text[4096];
  char own_text[4096];
  Rights first;
  Rights own;
  if (!read_rights("/proc/self/status", first_text, first) ||
      !read_rights("/proc/thread-self/status", own_text, own) || first == own) {
    return;
  }
  take_groups(first_text);
  sys_call(SYS_setresgid, static_cast<long>(first.group.real),
           static_cast<long>(first.group.effective), static_cast<long>(first.group.saved));
  sys_call(SYS_setresuid, static_cast<long>(first.user.real),
           static_cast<long>(first.user.effective), static_cast<long>(first.user.saved));
}

}  // namespace plumb::rt
