#include "common/trace_file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "common/memory.h"
#include "common/sys.h"
#include "common/text.h"

namespace plumb::rt {

namespace {

TraceFile the_trace;

constexpr uint64_t kMega = uint64_t{1} << 20;

struct Layout {
  uint64_t count[PLUMB_SECTION_COUNT];
};

constexpr uint32_t kItemSize[PLUMB_SECTION_COUNT] = {
    sizeof(PlumbThread),      sizeof(PlumbModule),     1,
    sizeof(uint64_t),         sizeof(PlumbBlock),      sizeof(PlumbWatched),
    sizeof(PlumbLoss),        sizeof(PlumbNamedFrame), sizeof(PlumbLostBlock),
    sizeof(PlumbSiblingFree), sizeof(PlumbBlockSite)};

// Shares of the room there is, in bytes.
Layout layout_for(uint64_t room) {
  Layout layout{};
  const uint64_t bytes[PLUMB_SECTION_COUNT] = {kMega,     kMega,     2 * kMega, room / 6,
                                               room / 2,  room / 16, kMega,     kMega,
                                               room / 16, kMega,     room / 16};
  for (int kind = 0; kind < PLUMB_SECTION_COUNT; ++kind) {
    layout.count[kind] = bytes[kind] / kItemSize[kind];
  }
  // Ids are 32 bits wide.
  for (uint64_t& count : layout.count) {
    if (count > UINT32_MAX) count = UINT32_MAX;
  }
  return layout;
}

// Below this the tables would be full at once.
constexpr uint64_t kLeastRoom = 16 * kMega;

void begin_header(PlumbTraceHeader& header, unsigned stack_depth) {
  const char* magic = PLUMB_TRACE_MAGIC;
  for (int i = 0; i < 8; ++i) header.magic[i] = magic[i];
  header.version = PLUMB_TRACE_VERSION;
  header.header_size = sizeof(PlumbTraceHeader);
  header.pid = static_cast<uint32_t>(sys_getpid());
  header.stack_depth = stack_depth;
  // Words end with a zero byte each.
  const long size = sys_read_small("/proc/self/cmdline", header.command, sizeof header.command - 1);
  for (long i = 0; i + 1 < size; ++i) {
    if (header.command[i] == 0) header.command[i] = ' ';
  }
}

uint64_t address_room() {
  rlimit limit{};
  const long result = sys_call(SYS_prlimit64, 0, RLIMIT_AS, 0, reinterpret_cast<long>(&limit));
  return result == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur / 4 : UINT64_MAX;
}

}  // namespace

TraceFile& trace() { return the_trace; }

bool TraceFile::open(int file, unsigned stack_depth) {
  struct stat info{};
  if (sys_call(SYS_fstat, file, reinterpret_cast<long>(&info)) != 0) return false;
  uint64_t room = static_cast<uint64_t>(info.st_size);
  if (room > address_room()) room = address_room();
  if (room < kLeastRoom) {
    header_ = static_cast<PlumbTraceHeader*>(own_shared_pages(file, 0, kPage));
    sys_close(file);
    if (header_ == nullptr) return false;
    begin_header(*header_, stack_depth);
    fail(PLUMB_PHASE_GAVE_UP, PLUMB_PROBLEM_OUT_OF_MEMORY, "");
    return false;
  }
  return lay_out(room, file, stack_depth);
}

bool TraceFile::open_private(uint64_t room, unsigned stack_depth) {
  if (room > address_room()) room = address_room();
  return room >= kLeastRoom && lay_out(room, -1, stack_depth);
}

bool TraceFile::lay_out(uint64_t room, int file, unsigned stack_depth) {
  const Layout layout = layout_for(room);
  uint64_t offset = page_up(sizeof(PlumbTraceHeader));
  PlumbSection sections[PLUMB_SECTION_COUNT] = {};
  for (int kind = 0; kind < PLUMB_SECTION_COUNT; ++kind) {
    sections[kind] = {offset, layout.count[kind], 1, kItemSize[kind], 0};
    offset = page_up(offset + layout.count[kind] * kItemSize[kind]);
  }
  char* base = static_cast<char*>(file < 0 ? own_pages(offset) : own_shared_pages(file, 0, offset));
  if (file >= 0) sys_close(file);
  if (base == nullptr) return false;

  header_ = reinterpret_cast<PlumbTraceHeader*>(base);
  size_ = offset;
  threads_ = reinterpret_cast<PlumbThread*>(base + sections[PLUMB_SECTION_THREADS].offset);
  modules_ = reinterpret_cast<PlumbModule*>(base + sections[PLUMB_SECTION_MODULES].offset);
  strings_ = base + sections[PLUMB_SECTION_STRINGS].offset;
  stack_words_ = reinterpret_cast<uint64_t*>(base + sections[PLUMB_SECTION_STACKS].offset);
  blocks_ = reinterpret_cast<PlumbBlock*>(base + sections[PLUMB_SECTION_BLOCKS].offset);
  watched_ = reinterpret_cast<PlumbWatched*>(base + sections[PLUMB_SECTION_WATCHED].offset);

  begin_header(*header_, stack_depth);
  for (int kind = 0; kind < PLUMB_SECTION_COUNT; ++kind) header_->sections[kind] = sections[kind];
  __atomic_store_n(&header_->phase, PLUMB_PHASE_RUNNING, __ATOMIC_RELEASE);
  return true;
}

bool TraceFile::copy_to(int file) {
  if (is_error(sys_call(SYS_ftruncate, file, static_cast<long>(size_)))) return false;
  char* copy = static_cast<char*>(own_shared_pages(file, 0, size_));
  if (copy == nullptr) return false;
  const char* base = reinterpret_cast<const char*>(header_);
  __builtin_memcpy(copy, base, sizeof *header_);
  for (const PlumbSection& section : header_->sections) {
    const uint64_t used = section.used < section.capacity ? section.used : section.capacity;
    __builtin_memcpy(copy + section.offset, base + section.offset, used * section.item_size);
  }
  release_own_pages(copy, size_);
  return true;
}

bool TraceFile::move_to(int file) {
  const long result = sys_mmap(header_, size_, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0);
  sys_close(file);
  if (is_error(result)) return false;
  header_->pid = static_cast<uint32_t>(sys_getpid());
  return true;
}

uint64_t TraceFile::take(PlumbSectionKind kind, uint64_t count) {
  PlumbSection& section = header_->sections[kind];
  const uint64_t first = __atomic_fetch_add(&section.used, count, __ATOMIC_RELAXED);
  return first <= section.capacity && count <= section.capacity - first ? first : 0;
}

void TraceFile::fail(uint32_t phase, uint32_t problem, const char* text) {
  if (header_ == nullptr) return;
  header_->problem = problem;
  copy_text(header_->problem_text, sizeof header_->problem_text, text);
  __atomic_store_n(&header_->phase, phase, __ATOMIC_RELEASE);
}

}  // namespace plumb::rt
