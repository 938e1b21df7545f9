#include "watch/snapshot_file.h"

#include "common/memory.h"
#include "common/sys.h"
#include "common/text.h"

namespace plumb::rt {

namespace {

bool write_all(int file, const char* from, size_t size, uint64_t offset) {
  while (size > 0) {
    const long put = sys_call(SYS_pwrite64, file, reinterpret_cast<long>(from),
                              static_cast<long>(size), static_cast<long>(offset));
    if (put == -4) continue;  // EINTR
    if (put <= 0) return false;
    from += put;
    offset += static_cast<uint64_t>(put);
    size -= static_cast<size_t>(put);
  }
  return true;
}

class PartPath {
 public:
  explicit PartPath(const char* path) {
    copy_text(text_, sizeof text_ - 8, path);
    size_t length = 0;
    while (text_[length] != 0) ++length;
    copy_text(text_ + length, sizeof text_ - length, ".part");
  }
  int create() const {
    return static_cast<int>(sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(text_),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  }
  bool rename_to(const char* path) const {
    return sys_call(SYS_renameat, AT_FDCWD, reinterpret_cast<long>(text_), AT_FDCWD,
                    reinterpret_cast<long>(path)) == 0;
  }
  void remove() const { sys_call(SYS_unlinkat, AT_FDCWD, reinterpret_cast<long>(text_), 0); }

 private:
  char text_[4096];
};

uint64_t check_of(const char* from, size_t size) {
  uint64_t check = PLUMB_WATCH_CHECK_START;
  for (size_t at = 0; at + sizeof check <= size; at += sizeof check) {
    uint64_t word;
    __builtin_memcpy(&word, from + at, sizeof word);
    check = PLUMB_WATCH_CHECK_STEP(check, word);
  }
  return check;
}

}  // namespace

bool SnapshotFile::write(const char* path, const Snapshot& snapshot) {
  if (path[0] == 0 || !snapshot.is_there()) return false;
  if (kept_ >= 0) return write_in_place(snapshot);
  const PartPath part(path);
  const int file = part.create();
  if (file < 0) return false;
  const bool whole = write_all(file, snapshot.data(), snapshot.size(), 0);
  sys_close(file);
  const bool renamed = whole && part.rename_to(path);
  if (!renamed) part.remove();
  return renamed;
}

void SnapshotFile::keep_open(const char* path, const Snapshot& snapshot) {
  if (kept_ >= 0 || path[0] == 0 || !snapshot.is_there()) return;
  const PartPath part(path);
  kept_ = part.create();
  if (kept_ < 0) return;
  offset_ = size_ = 0;
  if (write_in_place(snapshot) && part.rename_to(path)) return;
  sys_close(kept_);
  kept_ = -1;
  part.remove();
}

bool SnapshotFile::write_in_place(const Snapshot& snapshot) {
  const uint64_t size = snapshot.size();
  // In front of the last one, where there is room; otherwise behind, and so far that
  // there will be.
  uint64_t place = kPage;
  if (size_ != 0 && place + size > offset_) {
    const uint64_t behind = page_up(offset_ + size_);
    const uint64_t far = kPage + page_up(2 * size);
    place = behind > far ? behind : far;
  }
  if (!write_all(kept_, snapshot.data(), size, place)) return false;
  PlumbWatchTurns turns{};
  __builtin_memcpy(turns.magic, PLUMB_WATCH_TURNS_MAGIC, sizeof turns.magic);
  turns.version = PLUMB_WATCH_VERSION;
  turns.offset = place;
  turns.size = size;
  turns.check = check_of(snapshot.data(), size);
  if (!write_all(kept_, reinterpret_cast<const char*>(&turns), sizeof turns, 0)) return false;
  offset_ = place;
  size_ = size;
  return true;
}

}  // namespace plumb::rt
