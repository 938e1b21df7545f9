#include "watch/touches.h"

#include "common/memory.h"
#include "common/sys.h"
#include "watch/arena.h"
#include "watch/model.h"

namespace plumb::rt {

namespace {

void drop(uintptr_t begin, size_t size) {
  sys_call(SYS_madvise, static_cast<long>(begin), static_cast<long>(size), MADV_DONTNEED);
}

}  // namespace

bool Touches::read(uintptr_t address, size_t pages) {
  const size_t size = pages * sizeof(uint64_t);
  size_t filled = 0;
  while (filled < size) {
    const long got = sys_pread(file_, reinterpret_cast<char*>(entries_) + filled, size - filled,
                               address / kPage * sizeof(uint64_t) + filled);
    if (got <= 0) return false;
    filled += static_cast<size_t>(got);
  }
  return true;
}

bool Touches::prepare(uintptr_t sample_page) {
  file_ = sys_open("/proc/self/pagemap");
  if (file_ < 0) return false;
  entries_ = static_cast<uint64_t*>(own_pages(kChunk / kPage * sizeof(uint64_t)));
  if (entries_ == nullptr) return false;
  auto* word = reinterpret_cast<volatile uint64_t*>(sample_page);
  *word = 42;
  if (!read(sample_page, 1) || !is_present(0)) return false;
  drop(sample_page, kPage);
  if (!read(sample_page, 1) || is_present(0)) return false;
  const bool kept = *word == 42;
  *word = 0;
  return read(sample_page, 1) && is_present(0) && kept;
}

void Touches::collect() {
  const size_t used = model().windows_used();
  for (size_t first = 0; first < used; first += kChunkWindows) {
    const size_t end = first + kChunkWindows < used ? first + kChunkWindows : used;
    const uintptr_t begin = model().window_address(first);
    const size_t size = (end - first) * kWindow;
    if (!read(begin, size / kPage)) return;
    drop(begin, size);
    model().note_touches(first, end, [&](uintptr_t from, uintptr_t to) {
      for (uintptr_t page = from; page < to; page += kPage) {
        const size_t index = (page - begin) / kPage;
        if (index < size / kPage && is_present(index)) return true;
      }
      return false;
    });
  }
  model().trim();
}

}  // namespace plumb::rt
