#include "common/watcher.h"

#include <sys/stat.h>

#include "common/annotations.h"
#include "common/block_table.h"
#include "common/live_blocks.h"
#include "common/mark.h"
#include "common/memory.h"
#include "common/modules.h"
#include "common/stack_depot.h"
#include "common/sys.h"
#include "common/trace_file.h"
#include "trace/record.h"

namespace plumb::rt {

int watching_on = 0;
int watching_few = 0;

namespace {

// A client request: to Valgrind, this sequence of instructions that otherwise
// does nothing.
uint64_t ask(uint64_t request, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) {
  volatile uint64_t question[6] = {request, a, b, c, 0, 0};
  uint64_t answer = 0;
  __asm__ volatile(
      "rolq $3, %%rdi\n\t"
      "rolq $13, %%rdi\n\t"
      "rolq $61, %%rdi\n\t"
      "rolq $51, %%rdi\n\t"
      "xchgq %%rbx, %%rbx"
      : "+d"(answer)
      : "a"(&question[0])
      : "cc", "memory");
  return answer;
}

const PlumbWantHeader* list = nullptr;
const PlumbWantModule* want_modules = nullptr;
const PlumbWant* wants = nullptr;
const watch::Word* scopes = nullptr;
const char* strings = nullptr;

bool open_list(int file) {
  struct stat info{};
  if (sys_call(SYS_fstat, file, reinterpret_cast<long>(&info)) != 0) return false;
  const size_t size = static_cast<size_t>(info.st_size);
  if (size < sizeof(PlumbWantHeader)) return false;
  const char* base = static_cast<const char*>(own_shared_pages(file, 0, size));
  sys_close(file);
  if (base == nullptr) return false;
  list = reinterpret_cast<const PlumbWantHeader*>(base);
  if (__builtin_memcmp(list->magic, PLUMB_WANT_MAGIC, sizeof list->magic) != 0 ||
      list->version != PLUMB_TRACE_VERSION) {
    return false;
  }
  if (list->scopes > size / sizeof(uint64_t)) return false;
  const uint64_t needed = sizeof *list + uint64_t{list->modules} * sizeof(PlumbWantModule) +
                          uint64_t{list->wants} * sizeof(PlumbWant) +
                          list->scopes * sizeof(uint64_t);
  if (needed > size || list->strings > size - needed) return false;
  want_modules = reinterpret_cast<const PlumbWantModule*>(list + 1);
  wants = reinterpret_cast<const PlumbWant*>(want_modules + list->modules);
  scopes = reinterpret_cast<const watch::Word*>(wants + list->wants);
  strings = reinterpret_cast<const char*>(scopes + list->scopes);
  return true;
}

// Index in the list of modules, or -1.
int find_module(const PlumbModule& module) {
  for (uint32_t i = 0; i < list->modules; ++i) {
    const PlumbWantModule& wanted = want_modules[i];
    if (wanted.path_size == module.path_size && wanted.path <= list->strings &&
        wanted.path_size <= list->strings - wanted.path &&
        __builtin_memcmp(strings + wanted.path, trace().strings() + module.path,
                         module.path_size) == 0) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int compare(uint64_t left, uint64_t right) { return left < right ? -1 : left > right ? 1 : 0; }

int compare_names(const PlumbWant& left, const PlumbWant& right) {
  if (const int order = compare(left.module, right.module); order != 0) return order;
  if (const int order = compare(left.thread, right.thread); order != 0) return order;
  if (const int order = compare(left.caller, right.caller); order != 0) return order;
  return compare(left.size, right.size);
}

uint32_t put_stack(Inside& in, const watch::Frames& frames) {
  if (frames.count == 0) return 0;
  return stack_id(in, frames.addresses, frames.count);
}

watch::Info info;  // too large for a stack

// Of an announced block; there are few of them.
uint32_t find_part(uint64_t address) {
  for (uint32_t index = 1; index < block_table().end(); ++index) {
    const PlumbBlock& block = block_table().entry(index);
    if (block.address == address && (block.flags & PLUMB_BLOCK_CUSTOM) != 0) return index;
  }
  return 0;
}

void put_watched(Inside& in, uint32_t index) {
  PlumbBlock& block = block_table().entry(index);
  info.is_part = (block.flags & PLUMB_BLOCK_CUSTOM) != 0 ? 1 : 0;
  if (ask(watch::kInfo, block.address, reinterpret_cast<uint64_t>(&info)) == 0) return;
  block.state = static_cast<uint8_t>(info.state);
  block.leader = info.leader == 0           ? 0
                 : info.leader_is_part != 0 ? find_part(info.leader)
                                            : block_table().find_start(info.leader);
  const uint64_t place = trace().take(PLUMB_SECTION_WATCHED, 1);
  if (place == 0) return;
  if (info.place.kind == PLUMB_PLACE_WORD) note_module(in, info.place.word);
  trace().watched()[place] = {index,
                              put_stack(in, info.allocation),
                              put_stack(in, info.loss),
                              put_stack(in, info.use),
                              info.cause,
                              info.flags,
                              put_stack(in, info.trail),
                              0,
                              info.place};
}

}  // namespace

bool start_watching(int file, uintptr_t forward) {
  if (!open_list(file)) return false;
  const Range own = own_module();
  const watch::Start start{own.begin,
                           own.end,
                           list->all,
                           reinterpret_cast<const watch::Word*>(own_ranges()),
                           reinterpret_cast<const watch::Word*>(own_range_counter()),
                           scopes,
                           list->scopes,
                           want_modules,
                           list->modules,
                           strings,
                           list->all != 0 ? forward : 0};
  if (ask(watch::kStart, reinterpret_cast<uint64_t>(&start)) != watch::kVersion) return false;
  watching_on = 1;
  watching_few = list->all == 0 ? 1 : 0;
  return true;
}

void find_wants(Inside& in, uint32_t thread, Name& name) {
  name.next_wanted = list->all != 0 ? name.ordinal + 1 : 0;
  if (list->all != 0) return;
  const PlumbModule* module = module_of(in, name.caller - 1);
  const int index = module == nullptr ? -1 : find_module(*module);
  if (index < 0) return;
  const PlumbWant key{static_cast<uint32_t>(index), thread, name.caller - module->bias, name.size,
                      uint64_t{name.ordinal} + 1,   0};
  uint32_t low = 0;
  uint32_t high = list->wants;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const int order = compare_names(wants[middle], key);
    if (order < 0 || (order == 0 && wants[middle].ordinal < key.ordinal))
      low = middle + 1;
    else
      high = middle;
  }
  if (low < list->wants && compare_names(wants[low], key) == 0) {
    name.next_wanted = static_cast<uint32_t>(wants[low].ordinal);
    name.next_kept = wants[low].kept != 0 ? 1 : 0;
  }
}

void* watch_allocate(size_t size, size_t alignment, bool kept) {
  return reinterpret_cast<void*>(ask(watch::kAllocate, size, alignment, kept ? 1 : 0));
}
void watch_arrives(void* block) { ask(watch::kArrives, reinterpret_cast<uint64_t>(block)); }
void watch_free(void* block) { ask(watch::kFree, reinterpret_cast<uint64_t>(block)); }
size_t watch_size(const void* block) {
  return ask(watch::kSize, reinterpret_cast<uint64_t>(block));
}
void watch_stored(const void* word) { ask(watch::kStored, reinterpret_cast<uint64_t>(word)); }
int parts_watched = 0;  // never less: words may still refer to them
void watch_part_begins(uintptr_t address, size_t size) {
  __atomic_store_n(&parts_watched, 1, __ATOMIC_RELAXED);
  ask(watch::kPartBegins, address, size);
}
void watch_part_ends(uintptr_t address) { ask(watch::kPartEnds, address); }
bool may_hold_watched(const void* begin, size_t size) {
  constexpr size_t kWorthAsking = 1024;
  if (size > kWorthAsking || pointer_mask != 0 || parts_watched != 0) return true;
  const auto* words = static_cast<const uintptr_t*>(begin);
  for (size_t i = 0; i < size / sizeof *words; ++i) {
    if (watch::is_followed(words[i])) return true;
  }
  return false;
}
void watch_range_dies(const void* begin, size_t size) {
  ask(watch::kRangeDies, reinterpret_cast<uint64_t>(begin), size);
}

__attribute__((noinline)) void watch_thread_begins(bool is_main) {
  // The caller's stack pointer, at which the thread's function will return,
  // less the return address that the call puts there.
  const uintptr_t frame = reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
  ask(watch::kThreadBegins, frame - sizeof(uintptr_t), is_main ? 1 : 0);
}

namespace {

// What the tool needs to know to look for references from all roots.
class EndPoint {
 public:
  explicit EndPoint(const ScanPoint& point)
      : size_((2 * own_range_count() + 8) * sizeof(uint64_t)),
        ranges_(static_cast<uint64_t*>(own_pages(size_))) {
    if (ranges_ == nullptr) return;
    // The pages that were just taken are one of them.
    for (size_t i = 0; i < own_range_count(); ++i) exclude(own_range(i));
    exclude(own_module());
    end_ = {point.stack_pointer, reinterpret_cast<const watch::Word*>(point.registers.begin),
            point.registers.size() / sizeof(watch::Word), ranges_, used_};
  }
  ~EndPoint() {
    if (ranges_ != nullptr) release_own_pages(ranges_, size_);
  }
  EndPoint(const EndPoint&) = delete;
  EndPoint& operator=(const EndPoint&) = delete;

  bool is_good() const { return ranges_ != nullptr; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(&end_); }

 private:
  void exclude(Range range) {
    ranges_[2 * used_] = range.begin;
    ranges_[2 * used_ + 1] = range.end;
    ++used_;
  }

  size_t size_;
  uint64_t* ranges_;
  size_t used_ = 0;
  watch::End end_{};
};

}  // namespace

watch::Count watch_count_lost(const ScanPoint& point, int then) {
  watch::Count count{static_cast<watch::Word>(then), 0, 0};
  const EndPoint end(point);
  if (end.is_good()) ask(watch::kCount, end.address(), reinterpret_cast<uint64_t>(&count));
  return count;
}

void watch_verdicts(const ScanPoint& point) {
  const EndPoint end(point);
  if (!end.is_good()) return;
  ask(watch::kEnd, end.address());
  Inside in;
  if (!list_live_blocks() || !list_custom_blocks()) return;
  for (uint32_t index = 1; index < block_table().end(); ++index) {
    const PlumbBlock& block = block_table().entry(index);
    if (block.state == PLUMB_BLOCK_FREE) continue;
    const bool is_part = (block.flags & PLUMB_BLOCK_CUSTOM) != 0;
    if (is_part || watch::in_arena(block.address)) put_watched(in, index);
  }
}

}  // namespace plumb::rt
