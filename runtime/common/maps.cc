#include "common/maps.h"

#include "common/sys.h"
#include "common/text.h"

namespace plumb::rt {

namespace {

// /proc/self is empty when the first thread has ended; thread-self is not.
constexpr const char* kMapsPath = "/proc/thread-self/maps";

struct Text {
  char* data;
  size_t size;
  size_t room;
};

bool read_whole(Text& text) {
  for (size_t room = size_t{1} << 18; room <= size_t{1} << 30; room *= 4) {
    char* data = static_cast<char*>(own_pages(room));
    if (data == nullptr) return false;
    const long got = sys_read_small(kMapsPath, data, room - 1);
    if (got > 0 && static_cast<size_t>(got) < room - 1) {
      text = {data, static_cast<size_t>(got), room};
      return true;
    }
    release_own_pages(data, room);
    if (got <= 0) return false;
  }
  return false;
}

// begin-end rwxp offset device inode   path
Mapping parse_line(const char*& at) {
  Mapping mapping{};
  mapping.range.begin = take_hex(at);
  ++at;
  mapping.range.end = take_hex(at);
  ++at;
  mapping.readable = at[0] == 'r';
  mapping.writable = at[1] == 'w';
  mapping.shared = at[3] == 's';
  at += 5;
  take_hex(at);  // offset
  ++at;
  take_hex(at);  // device, major
  ++at;
  take_hex(at);  // minor
  ++at;
  const uint64_t inode = take_decimal(at);
  while (*at == ' ') ++at;
  mapping.anonymous = inode == 0;
  mapping.heap = after(at, "[heap]") != nullptr;
  mapping.stack = after(at, "[stack]") != nullptr;
  mapping.special = after(at, "[v") != nullptr || after(at, "anon_inode:") != nullptr ||
                    (after(at, "/dev/") != nullptr && after(at, "/dev/zero") == nullptr &&
                     after(at, "/dev/shm/") == nullptr);
  while (*at != '\n' && *at != 0) ++at;
  if (*at == '\n') ++at;
  return mapping;
}

}  // namespace

bool read_maps(OwnVector<Mapping>& mappings) {
  mappings.clear();
  Text text{};
  if (!read_whole(text)) return false;
  for (const char* at = text.data; *at != 0;) mappings.push(parse_line(at));
  release_own_pages(text.data, text.room);
  return !mappings.failed() && mappings.size() != 0;
}

const Mapping* mapping_at(const OwnVector<Mapping>& mappings, uintptr_t address) {
  size_t low = 0;
  size_t high = mappings.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const Mapping& mapping = mappings[middle];
    if (address < mapping.range.begin)
      high = middle;
    else if (address >= mapping.range.end)
      low = middle + 1;
    else
      return &mapping;
  }
  return nullptr;
}

}  // namespace plumb::rt
