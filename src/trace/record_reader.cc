#include "trace/record_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb {

namespace {

constexpr std::array<std::uint32_t, PLUMB_SECTION_COUNT> kItemSizes = {
    sizeof(PlumbThread),      sizeof(PlumbModule),     1,
    sizeof(std::uint64_t),    sizeof(PlumbBlock),      sizeof(PlumbWatched),
    sizeof(PlumbLoss),        sizeof(PlumbNamedFrame), sizeof(PlumbLostBlock),
    sizeof(PlumbSiblingFree), sizeof(PlumbBlockSite)};
constexpr std::array<std::string_view, PLUMB_SECTION_COUNT> kSectionNames = {
    "threads", "modules", "strings", "stacks", "blocks", "watched",
    "losses",  "frames",  "lost",    "frees",  "sites"};
constexpr std::array<std::string_view, PLUMB_API_COUNT> kApiNames = {
    "malloc",         "calloc",        "realloc", "reallocarray", "memalign",
    "posix_memalign", "aligned_alloc", "valloc",  "pvalloc",      "PLUMB_ALLOC"};
constexpr std::uint32_t kMaxStackDepth = 4096;
constexpr std::array<std::optional<Cause>, PLUMB_CAUSE_COUNT> kCauses = {
    std::nullopt,    Cause::overwritten, Cause::scope_end, Cause::holder_freed, Cause::holder_lost,
    Cause::unmapped, Cause::thread_end,  Cause::discarded, Cause::escaped_throw};
constexpr std::array<UseKind, PLUMB_USE_COUNT> kUses = {UseKind::access, UseKind::copy,
                                                        UseKind::call, UseKind::arithmetic};

// The bytes, with the checked header in front.
class Source {
 public:
  static Result<Source> open(std::span<const std::byte> bytes, std::string_view name);

  const PlumbTraceHeader& header() const { return header_; }
  std::string_view name() const { return name_; }

  // Items that are really there.
  std::uint64_t count(PlumbSectionKind kind) const { return used_[kind]; }

  template <typename T>
  T item(PlumbSectionKind kind, std::uint64_t index) const {
    T item;
    std::memcpy(&item, bytes_.data() + header_.sections[kind].offset + index * sizeof(T),
                sizeof(T));
    return item;
  }
  std::string_view string(std::uint64_t at, std::uint64_t size) const {
    const std::uint64_t room = count(PLUMB_SECTION_STRINGS);
    if (at > room || size > room - at) return {};
    const std::byte* data = bytes_.data() + header_.sections[PLUMB_SECTION_STRINGS].offset + at;
    return {reinterpret_cast<const char*>(data), size};
  }
  std::span<const std::byte> section(PlumbSectionKind kind) const {
    return bytes_.subspan(header_.sections[kind].offset, count(kind) * kItemSizes[kind]);
  }

  std::unexpected<Error> damaged(std::string what) const {
    return fail(std::string(name_), std::move(what), "the trace is damaged; record again");
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view name_;
  PlumbTraceHeader header_{};
  std::array<std::uint64_t, PLUMB_SECTION_COUNT> used_{};
};

Result<Source> Source::open(std::span<const std::byte> bytes, std::string_view name) {
  Source source;
  source.bytes_ = bytes;
  source.name_ = name;
  constexpr std::size_t kPrologue = offsetof(PlumbTraceHeader, pid);
  if (bytes.size() < kPrologue ||
      std::memcmp(bytes.data(), PLUMB_TRACE_MAGIC, sizeof source.header_.magic) != 0) {
    return fail(std::string(name), "not a trace of plumb's");
  }
  std::memcpy(&source.header_, bytes.data(), kPrologue);
  if (source.header_.version != PLUMB_TRACE_VERSION) {
    return fail(
        std::string(name),
        fmt::format("format {}, this build reads {}", source.header_.version, PLUMB_TRACE_VERSION),
        "record again, or use the plumb that wrote it");
  }
  if (source.header_.header_size != sizeof(PlumbTraceHeader)) {
    return source.damaged("the header has the wrong size");
  }
  if (bytes.size() < sizeof(PlumbTraceHeader)) return source.damaged("cut off in the header");
  std::memcpy(&source.header_, bytes.data(), sizeof source.header_);
  for (std::size_t kind = 0; kind < PLUMB_SECTION_COUNT; ++kind) {
    const PlumbSection& section = source.header_.sections[kind];
    const std::uint64_t used = std::min(section.used, section.capacity);
    if (used != 0 && section.item_size != kItemSizes[kind]) {
      return source.damaged(
          fmt::format("section {} has items of {} bytes", kSectionNames[kind], section.item_size));
    }
    if (section.offset > bytes.size() ||
        used > (bytes.size() - section.offset) / kItemSizes[kind]) {
      if (used != 0) {
        return source.damaged(fmt::format("cut off in section {}", kSectionNames[kind]));
      }
      source.header_.sections[kind].offset = 0;
    }
    source.used_[kind] = used;
  }
  return source;
}

// Texts of fixed size need not be ended.
template <std::size_t N>
std::string fixed_text(const char (&text)[N]) {
  return std::string(text, strnlen(text, N));
}

bool add(Count& count, std::uint64_t blocks, std::uint64_t bytes) {
  return !__builtin_add_overflow(count.blocks, blocks, &count.blocks) &&
         !__builtin_add_overflow(count.bytes, bytes, &count.bytes);
}

// Which module had an address, and when.
class ModuleMap {
 public:
  ModuleMap(const Source& source, std::vector<Module>& modules) {
    std::map<std::pair<std::string, std::string>, std::uint32_t> known;
    for (std::uint64_t i = 1; i < source.count(PLUMB_SECTION_MODULES); ++i) {
      const auto item = source.item<PlumbModule>(PLUMB_SECTION_MODULES, i);
      if (item.state == 0 || item.start >= item.end) continue;
      Module module;
      module.path = to_utf8(source.string(item.path, item.path_size));
      const std::uint32_t id_size = std::min(item.build_id_size, PLUMB_BUILD_ID_MAX);
      for (std::uint32_t k = 0; k < id_size; ++k) {
        module.build_id += fmt::format("{:02x}", item.build_id[k]);
      }
      const auto [place, is_new] = known.try_emplace({module.path, module.build_id},
                                                     static_cast<std::uint32_t>(modules.size()));
      if (is_new) modules.push_back(std::move(module));
      places_.push_back({item, ModuleId::of(place->second)});
    }
    std::ranges::sort(places_, {}, [](const Place& place) {
      return std::pair(place.module.start, place.module.first_epoch);
    });
  }

  TraceAddress find(std::uint64_t address, std::uint32_t epoch) const {
    // The return address of a call at a module's very end is behind it.
    const std::uint64_t inside = address - 1;
    auto next = std::ranges::upper_bound(places_, inside, {},
                                         [](const Place& place) { return place.module.start; });
    const Place* best = nullptr;
    for (int tries = 0; next != places_.begin() && tries < kMaxOverlap; ++tries) {
      const Place& place = *--next;
      if (inside >= place.module.end) continue;
      if (best == nullptr || fits_better(place.module, best->module, epoch)) best = &place;
    }
    if (best == nullptr) return {std::nullopt, address};
    return {best->id, address - best->module.bias};
  }

 private:
  struct Place {
    PlumbModule module;
    ModuleId id;
  };
  // Modules that were at the same place one after the other; and so many steps
  // back that a look-up looks at.
  static constexpr int kMaxOverlap = 64;

  static bool was_there(const PlumbModule& module, std::uint32_t epoch) {
    return module.first_epoch <= epoch && (module.end_epoch == 0 || epoch < module.end_epoch);
  }
  // Of those that were there, the one noted last; one that was there before one
  // that was not.
  static bool fits_better(const PlumbModule& left, const PlumbModule& right, std::uint32_t epoch) {
    const bool left_there = was_there(left, epoch);
    const bool right_there = was_there(right, epoch);
    if (left_there != right_there) return left_there;
    return left.first_epoch > right.first_epoch;
  }
  std::vector<Place> places_;  // by start
};

class StackReader {
 public:
  StackReader(const Source& source, const ModuleMap& modules, Trace& trace)
      : source_(source), modules_(modules), trace_(trace) {
    trace_.stacks.emplace_back();
  }

  // The index in Trace::stacks.
  Result<std::uint32_t> read(std::uint32_t id) {
    if (id == 0) return 0;
    const auto [place, is_new] =
        known_.try_emplace(id, static_cast<std::uint32_t>(trace_.stacks.size()));
    if (!is_new) return place->second;
    const std::uint64_t words = source_.count(PLUMB_SECTION_STACKS);
    if (words < PLUMB_STACK_WORDS || id > words - PLUMB_STACK_WORDS) {
      return source_.damaged(fmt::format("stack {} is not there", id));
    }
    PlumbStack head;
    std::array<std::uint64_t, PLUMB_STACK_WORDS> raw;
    for (std::uint32_t i = 0; i < PLUMB_STACK_WORDS; ++i) {
      raw[i] = source_.item<std::uint64_t>(PLUMB_SECTION_STACKS, id + i);
    }
    std::memcpy(&head, raw.data(), sizeof head);
    const std::uint64_t first = std::uint64_t{id} + PLUMB_STACK_WORDS;
    if (head.count > kMaxStackDepth || head.count > words - first) {
      return source_.damaged(fmt::format("stack {} has {} frames", id, head.count));
    }
    std::vector<TraceAddress> stack;
    stack.reserve(head.count);
    for (std::uint32_t i = 0; i < head.count; ++i) {
      stack.push_back(
          modules_.find(source_.item<std::uint64_t>(PLUMB_SECTION_STACKS, first + i), head.epoch));
    }
    trace_.stacks.push_back(std::move(stack));
    return place->second;
  }

 private:
  const Source& source_;
  const ModuleMap& modules_;
  Trace& trace_;
  std::unordered_map<std::uint32_t, std::uint32_t> known_;
};

class LossReader {
 public:
  LossReader(const Source& source, StackReader& stacks, Trace& trace)
      : source_(source), stacks_(stacks), trace_(trace) {}

  Result<void> read_all() {
    trace_.losses.emplace_back();
    for (std::uint64_t i = 1; i < source_.count(PLUMB_SECTION_LOSSES); ++i) {
      Result<TraceLoss> loss = read(i);
      if (!loss) return std::unexpected(loss.error());
      trace_.losses.push_back(std::move(*loss));
    }
    for (std::uint64_t i = 1; i < source_.count(PLUMB_SECTION_LOST); ++i) {
      const auto lost = source_.item<PlumbLostBlock>(PLUMB_SECTION_LOST, i);
      for (const std::uint32_t index : {lost.loss, lost.use}) {
        if (index < trace_.losses.size()) continue;
        return source_.damaged(fmt::format("loss {} is not there", index));
      }
      by_block_[lost.block] = lost;
    }
    return {};
  }
  PlumbLostBlock of_block(std::uint64_t block) const {
    const auto found = by_block_.find(block);
    return found == by_block_.end() ? PlumbLostBlock{} : found->second;
  }

 private:
  static constexpr std::uint32_t kMaxFrames = 256;

  std::string text(const PlumbText& place) const {
    return to_utf8(source_.string(place.at, place.size));
  }

  Result<TraceLoss> read(std::uint64_t index) {
    const auto item = source_.item<PlumbLoss>(PLUMB_SECTION_LOSSES, index);
    const std::uint64_t frames = source_.count(PLUMB_SECTION_FRAMES);
    if (item.cause >= PLUMB_CAUSE_COUNT || item.storage >= PLUMB_STORAGE_COUNT ||
        item.what >= PLUMB_USE_COUNT || item.frames > frames ||
        item.frame_count > frames - item.frames || item.frame_count > kMaxFrames) {
      return source_.damaged(fmt::format("loss {} is not one", index));
    }
    TraceLoss loss;
    loss.cause = kCauses[item.cause];
    loss.storage = static_cast<PlumbStorage>(item.storage);
    loss.what = kUses[item.what];
    loss.holder = text(item.holder);
    loss.type = text(item.type);
    const Result<std::uint32_t> stack = stacks_.read(item.stack);
    if (!stack) return std::unexpected(stack.error());
    loss.stack = *stack;
    for (std::uint32_t i = 0; i < item.frame_count; ++i) {
      const auto named = source_.item<PlumbNamedFrame>(PLUMB_SECTION_FRAMES, item.frames + i);
      Frame frame;
      frame.linkage = text(named.linkage);
      frame.function = text(named.function);
      frame.file = text(named.file);
      if (named.line != 0) frame.line = named.line;
      if (named.column != 0) frame.column = named.column;
      frame.inlined = i + 1 < item.frame_count;
      loss.frames.push_back(std::move(frame));
    }
    return loss;
  }

  const Source& source_;
  StackReader& stacks_;
  Trace& trace_;
  std::unordered_map<std::uint64_t, PlumbLostBlock> by_block_;
};

Result<Count> freed_of(const Source& source, const PlumbBlockSite& site) {
  Count freed;
  const bool any = (site.flags & PLUMB_SITE_ANY_SIZE) != 0;  // bytes: with the threads
  if (__builtin_add_overflow(site.freed, site.freed_elsewhere, &freed.blocks) ||
      __builtin_mul_overflow(freed.blocks, any ? 0 : site.size, &freed.bytes)) {
    return source.damaged("the counters overflow");
  }
  return freed;
}

// Killed between two counters, a thread may have freed what it did not yet allocate.
Result<Count> live_of(const Source& source, const PlumbBlockSite& site) {
  const Result<Count> freed = freed_of(source, site);
  if (!freed) return freed;
  Count live;
  live.blocks = site.allocated > freed->blocks ? site.allocated - freed->blocks : 0;
  const bool any = (site.flags & PLUMB_SITE_ANY_SIZE) != 0;
  if (any)
    live.bytes = live.blocks == 0 ? 0 : site.size;
  else if (__builtin_mul_overflow(live.blocks, site.size, &live.bytes))
    return source.damaged("the counters overflow");
  return live;
}

class BlockReader {
 public:
  BlockReader(const Source& source, StackReader& stacks, const LossReader& losses, Trace& trace)
      : source_(source),
        stacks_(stacks),
        losses_(losses),
        trace_(trace),
        final_(trace.phase == PLUMB_PHASE_DONE && trace.problem == PLUMB_PROBLEM_NONE) {}

  Result<void> read_all() {
    // Blocks are listed at the end; without one, the sites know how many there are.
    const bool by_sites = !final_ && source_.count(PLUMB_SECTION_SITES) > 1;
    if (Result<void> good = by_sites ? read_sites() : read_blocks(); !good) return good;
    std::map<const TraceGroup*, std::uint32_t> places;
    for (auto& [key, group] : groups_) {
      places.emplace(&group, static_cast<std::uint32_t>(places.size()));
    }
    list_lost(places);
    list_kept(places);
    for (auto& [key, group] : groups_) trace_.groups.push_back(std::move(group));
    return {};
  }

  TraceName name_of(const PlumbBlock& block) const {
    TraceName name;
    const Result<std::uint32_t> stack = stacks_.read(block.stack);
    if (!stack || trace_.stacks[*stack].empty()) return name;
    name.caller = trace_.stacks[*stack].front();
    name.thread = block.thread;
    name.size = (block.flags & PLUMB_BLOCK_BY_CALLER) != 0 ? PLUMB_WANT_ANY_SIZE : block.size;
    name.ordinal = block.ordinal;
    return name;
  }
  Reach reach_of(const PlumbBlock& block) const {
    if (!final_) return Reach::unknown;
    switch (block.state) {
      case PLUMB_BLOCK_REACHABLE:
        return Reach::reachable;
      case PLUMB_BLOCK_DIRECT:
      case PLUMB_BLOCK_INDIRECT:
        return Reach::lost;
      default:
        return Reach::unknown;
    }
  }
  const Count& live() const { return live_; }

 private:
  using Key = std::tuple<Reach, std::uint32_t, std::uint8_t, std::uint32_t>;

  Result<void> read_blocks() {
    for (std::uint64_t i = 1; i < source_.count(PLUMB_SECTION_BLOCKS); ++i) {
      const auto block = source_.item<PlumbBlock>(PLUMB_SECTION_BLOCKS, i);
      if (block.state == PLUMB_BLOCK_FREE) continue;
      if (Result<void> good = read(i, block); !good) return good;
    }
    return {};
  }

  Result<void> read_sites() {
    for (std::uint64_t i = 1; i < source_.count(PLUMB_SECTION_SITES); ++i) {
      const auto site = source_.item<PlumbBlockSite>(PLUMB_SECTION_SITES, i);
      if (site.state == 0) continue;
      if (site.api >= PLUMB_API_COUNT) return source_.damaged(fmt::format("site {} is not one", i));
      const Result<Count> live = live_of(source_, site);
      if (!live) return std::unexpected(live.error());
      if (live->blocks == 0) continue;
      if (!add(live_, live->blocks, live->bytes)) {
        return source_.damaged("the blocks do not fit into memory");
      }
      if ((site.flags & PLUMB_SITE_EXCLUDED) != 0) {
        add(trace_.excluded, live->blocks, live->bytes);
        continue;
      }
      PlumbBlock like{};
      like.stack = site.stack;
      like.api = site.api;
      const Result<TraceGroup*> group = group_of(0, like, Reach::unknown);
      if (!group) return std::unexpected(group.error());
      TraceGroup& sum = **group;
      const bool any = (site.flags & PLUMB_SITE_ANY_SIZE) != 0;
      const std::uint64_t size = any ? live->bytes / live->blocks : site.size;
      sum.sizes.min = sum.direct.blocks == 0 ? size : std::min(sum.sizes.min, size);
      sum.sizes.max = std::max(sum.sizes.max, size);
      add(sum.direct, live->blocks, live->bytes);
    }
    return {};
  }

  Result<void> read(std::uint64_t index, const PlumbBlock& block) {
    if (block.state > PLUMB_BLOCK_INDIRECT || block.api >= PLUMB_API_COUNT) {
      return source_.damaged(fmt::format("block {} is not one", index));
    }
    if (!add(live_, 1, block.size)) return source_.damaged("the blocks do not fit into memory");
    if ((block.flags & PLUMB_BLOCK_EXCLUDED) != 0) {
      add(trace_.excluded, 1, block.size);
      return {};
    }
    if (final_ && block.state == PLUMB_BLOCK_INDIRECT) {
      if (block.leader == 0 || block.leader >= source_.count(PLUMB_SECTION_BLOCKS)) {
        return source_.damaged(fmt::format("block {} has no leader", index));
      }
      const auto leader = source_.item<PlumbBlock>(PLUMB_SECTION_BLOCKS, block.leader);
      if (leader.state != PLUMB_BLOCK_DIRECT || leader.api >= PLUMB_API_COUNT) {
        return source_.damaged(fmt::format("block {} has no leader", index));
      }
      if ((leader.flags & PLUMB_BLOCK_EXCLUDED) == 0) {
        const Result<TraceGroup*> group = group_of(block.leader, leader, Reach::lost);
        if (!group) return std::unexpected(group.error());
        add((*group)->indirect, 1, block.size);
        return {};
      }
    }
    const Result<TraceGroup*> group = group_of(index, block, reach_of(block));
    if (!group) return std::unexpected(group.error());
    TraceGroup& sum = **group;
    sum.sizes.min = sum.direct.blocks == 0 ? block.size : std::min(sum.sizes.min, block.size);
    sum.sizes.max = std::max(sum.sizes.max, block.size);
    add(sum.direct, 1, block.size);
    return {};
  }

  // Leaders first, then what they held. All blocks were found good before.
  void list_lost(const std::map<const TraceGroup*, std::uint32_t>& places) {
    if (!final_) return;
    std::unordered_map<std::uint64_t, std::uint32_t> leaders;
    for (const PlumbBlockState state : {PLUMB_BLOCK_DIRECT, PLUMB_BLOCK_INDIRECT}) {
      for (std::uint64_t i = 1; i < source_.count(PLUMB_SECTION_BLOCKS); ++i) {
        const auto block = source_.item<PlumbBlock>(PLUMB_SECTION_BLOCKS, i);
        if (block.state != state || trace_.lost.size() >= Trace::kMaxLost) continue;
        if ((block.flags & PLUMB_BLOCK_EXCLUDED) != 0) continue;
        const auto place = static_cast<std::uint32_t>(trace_.lost.size());
        if (state == PLUMB_BLOCK_DIRECT) {
          const Result<TraceGroup*> group = group_of(i, block, Reach::lost);
          leaders.emplace(i, place);
          trace_.lost.push_back(
              {name_of(block), block.address, block.size, places.at(*group), place});
        } else if (const auto leader = leaders.find(block.leader); leader != leaders.end()) {
          trace_.lost.push_back({name_of(block), block.address, block.size,
                                 trace_.lost[leader->second].group, leader->second});
        }
      }
    }
  }

  void list_kept(const std::map<const TraceGroup*, std::uint32_t>& places) {
    if (!final_) return;
    for (std::uint64_t i = 1; i < source_.count(PLUMB_SECTION_BLOCKS); ++i) {
      const auto block = source_.item<PlumbBlock>(PLUMB_SECTION_BLOCKS, i);
      if (block.state != PLUMB_BLOCK_REACHABLE || trace_.kept.size() >= Trace::kMaxLost) continue;
      constexpr std::uint8_t kExcused = PLUMB_BLOCK_TOLD | PLUMB_BLOCK_IGNORED;
      if ((block.flags & kExcused) == kExcused && trace_.excused.size() < Trace::kMaxLost) {
        trace_.excused.push_back({name_of(block), block.address, block.size, 0, 0});
      }
      if ((block.flags & PLUMB_BLOCK_EXCLUDED) != 0) continue;
      const Result<TraceGroup*> group = group_of(i, block, Reach::reachable);
      trace_.kept.push_back({name_of(block), block.address, block.size, places.at(*group),
                             static_cast<std::uint32_t>(trace_.kept.size())});
    }
  }

  Result<TraceGroup*> group_of(std::uint64_t index, const PlumbBlock& block, Reach reach) {
    const Result<std::uint32_t> stack = stacks_.read(block.stack);
    if (!stack) return std::unexpected(stack.error());
    const PlumbLostBlock lost = reach == Reach::lost ? losses_.of_block(index) : PlumbLostBlock{};
    TraceGroup& group = groups_[{reach, *stack, block.api, lost.loss}];
    if (group.use == 0) group.use = lost.use;
    if (group.api.empty()) {
      group.reach = reach;
      group.loss = lost.loss;
      group.stack = *stack;
      group.api = kApiNames[block.api];
    }
    return &group;
  }

  const Source& source_;
  StackReader& stacks_;
  const LossReader& losses_;
  Trace& trace_;
  const bool final_;  // every block has its verdict
  std::map<Key, TraceGroup> groups_;
  Count live_;
};

TracePlace place_of(const PlumbPlace& item, const ModuleMap& modules) {
  TracePlace place;
  place.kind = static_cast<PlumbPlaceKind>(item.kind);
  // Modules that are gone by the end are not told apart: that is when it was noted.
  if (place.kind == PLUMB_PLACE_WORD) place.word = modules.find(item.word, UINT32_MAX - 1);
  place.frame = item.frame;
  place.offset = item.offset;
  place.registers = item.registers;
  place.aliases.assign(item.aliases, item.aliases + std::min(item.alias_count, PLUMB_MAX_ALIASES));
  return place;
}

Result<void> read_watched(const Source& source, const BlockReader& blocks, StackReader& stacks,
                          const ModuleMap& modules, Trace& trace) {
  for (std::uint64_t i = 1; i < source.count(PLUMB_SECTION_WATCHED); ++i) {
    const auto item = source.item<PlumbWatched>(PLUMB_SECTION_WATCHED, i);
    if (item.block == 0) continue;  // taken, but never written
    if (item.block >= source.count(PLUMB_SECTION_BLOCKS) || item.cause >= PLUMB_CAUSE_COUNT ||
        item.place.kind >= PLUMB_PLACE_COUNT) {
      return source.damaged(fmt::format("watched block {} is not one", i));
    }
    const auto block = source.item<PlumbBlock>(PLUMB_SECTION_BLOCKS, item.block);
    if (block.state == PLUMB_BLOCK_FREE) continue;
    TraceWatched watched;
    watched.name = blocks.name_of(block);
    watched.reach = blocks.reach_of(block);
    watched.cause = kCauses[item.cause];
    watched.returned = (item.flags & PLUMB_WATCHED_RETURNED) != 0;
    watched.last_read = (item.flags & PLUMB_WATCHED_LAST_READ) != 0;
    watched.thrown = (item.flags & PLUMB_WATCHED_THROWN) != 0;
    watched.not_stored = (item.flags & PLUMB_WATCHED_NOT_STORED) != 0;
    watched.place = place_of(item.place, modules);
    const std::array<std::pair<std::uint32_t, std::uint32_t*>, 4> wanted = {
        {{item.allocation_stack, &watched.allocation},
         {item.loss_stack, &watched.loss},
         {item.use_stack, &watched.use},
         {item.trail_stack, &watched.trail}}};
    for (const auto& [id, place] : wanted) {
      const Result<std::uint32_t> stack = stacks.read(id);
      if (!stack) return std::unexpected(stack.error());
      *place = *stack;
    }
    trace.watched.push_back(std::move(watched));
  }
  return {};
}

Result<void> read_header(const Source& source, Trace& trace) {
  const PlumbTraceHeader& header = source.header();
  if (header.phase > PLUMB_PHASE_GAVE_UP) return source.damaged("unknown phase");
  if (header.end > PLUMB_END_EXEC) return source.damaged("unknown kind of end");
  if (header.problem > PLUMB_PROBLEM_SANDBOX) return source.damaged("unknown problem");
  if (header.engine > PLUMB_ENGINE_CC) return source.damaged("unknown engine");
  trace.pid = header.pid;
  trace.engine = static_cast<PlumbEngine>(header.engine);
  trace.mode = to_utf8(fixed_text(header.mode));
  trace.command = to_utf8(fixed_text(header.command));
  trace.phase = static_cast<PlumbPhase>(header.phase);
  trace.end = static_cast<PlumbEnd>(header.end);
  trace.end_signal = header.end_detail;
  trace.end_program = to_utf8(fixed_text(header.end_text));
  trace.problem = static_cast<PlumbProblem>(header.problem);
  trace.problem_text = to_utf8(fixed_text(header.problem_text));
  trace.limits = header.limits;
  trace.stack_depth = header.stack_depth;
  trace.threads_stopped = header.threads_stopped;
  trace.threads_unanswered = header.threads_unanswered;
  trace.stop_rounds = header.stop_rounds;
  trace.scan_seconds = static_cast<double>(header.scan_nanoseconds) / 1e9;
  return {};
}

Result<void> read_counters(const Source& source, const Count& live, Trace& trace) {
  Count allocated;
  for (std::uint64_t i = 1; i < source.count(PLUMB_SECTION_THREADS); ++i) {
    const auto thread = source.item<PlumbThread>(PLUMB_SECTION_THREADS, i);
    if (!add(allocated, thread.allocated_blocks, thread.allocated_bytes) ||
        !add(trace.freed, thread.freed_blocks, thread.freed_bytes)) {
      return source.damaged("the counters overflow");
    }
  }
  for (std::uint64_t i = 1; i < source.count(PLUMB_SECTION_SITES); ++i) {
    const auto site = source.item<PlumbBlockSite>(PLUMB_SECTION_SITES, i);
    if (site.state == 0) continue;
    const bool any = (site.flags & PLUMB_SITE_ANY_SIZE) != 0;
    std::uint64_t bytes = 0;
    const Result<Count> freed = freed_of(source, site);
    if (!freed) return std::unexpected(freed.error());
    if (__builtin_mul_overflow(site.allocated, any ? 0 : site.size, &bytes) ||
        !add(allocated, site.allocated, bytes) || !add(trace.freed, freed->blocks, freed->bytes)) {
      return source.damaged("the counters overflow");
    }
  }
  trace.allocated = trace.freed;
  if (!add(trace.allocated, live.blocks, live.bytes))
    return source.damaged("the counters overflow");
  trace.adjusted = trace.allocated != allocated;
  return {};
}

Result<void> read_frees(const Source& source, StackReader& stacks, Trace& trace) {
  for (std::uint64_t i = 1; i < source.count(PLUMB_SECTION_FREES); ++i) {
    const auto item = source.item<PlumbSiblingFree>(PLUMB_SECTION_FREES, i);
    TraceFree free;
    for (const auto& [id, index] :
         {std::pair{item.allocation_stack, &free.allocation}, std::pair{item.stack, &free.stack}}) {
      const Result<std::uint32_t> stack = stacks.read(id);
      if (!stack) return std::unexpected(stack.error());
      *index = *stack;
    }
    free.blocks = item.blocks;
    trace.frees.push_back(free);
  }
  return {};
}

}  // namespace

Result<Trace> read_trace(std::span<const std::byte> bytes, std::string_view name) {
  const Result<Source> source = Source::open(bytes, name);
  if (!source) return std::unexpected(source.error());
  Trace trace;
  if (Result<void> good = read_header(*source, trace); !good) return std::unexpected(good.error());
  const ModuleMap modules(*source, trace.modules);
  StackReader stacks(*source, modules, trace);
  LossReader losses(*source, stacks, trace);
  if (Result<void> good = losses.read_all(); !good) return std::unexpected(good.error());
  BlockReader blocks(*source, stacks, losses, trace);
  if (Result<void> good = blocks.read_all(); !good) return std::unexpected(good.error());
  if (Result<void> good = read_frees(*source, stacks, trace); !good) {
    return std::unexpected(good.error());
  }
  if (Result<void> good = read_watched(*source, blocks, stacks, modules, trace); !good) {
    return std::unexpected(good.error());
  }
  if (Result<void> good = read_counters(*source, blocks.live(), trace); !good) {
    return std::unexpected(good.error());
  }
  return trace;
}

Result<Trace> read_trace_stacks(std::span<const std::byte> bytes, std::string_view name,
                                std::span<const std::uint32_t> ids) {
  const Result<Source> source = Source::open(bytes, name);
  if (!source) return std::unexpected(source.error());
  Trace trace;
  const ModuleMap modules(*source, trace.modules);
  StackReader stacks(*source, modules, trace);
  std::vector<std::uint32_t> indices;
  for (const std::uint32_t id : ids) {
    const Result<std::uint32_t> index = stacks.read(id);
    if (!index) return std::unexpected(index.error());
    indices.push_back(*index);
  }
  std::vector<std::vector<TraceAddress>> ordered;
  ordered.reserve(indices.size());
  for (const std::uint32_t index : indices) ordered.push_back(trace.stacks[index]);
  trace.stacks = std::move(ordered);
  return trace;
}

std::string_view api_name(std::uint32_t api) {
  return api < kApiNames.size() ? kApiNames[api] : std::string_view();
}

Result<std::string> compact_trace(std::span<const std::byte> bytes, std::string_view name) {
  const Result<Source> source = Source::open(bytes, name);
  if (!source) return std::unexpected(source.error());
  PlumbTraceHeader header = source->header();
  std::uint64_t offset = sizeof header;
  for (std::size_t i = 0; i < PLUMB_SECTION_COUNT; ++i) {
    const auto kind = static_cast<PlumbSectionKind>(i);
    offset = (offset + 7) & ~std::uint64_t{7};
    header.sections[i] = {offset, source->count(kind), source->count(kind), kItemSizes[i], 0};
    offset += source->count(kind) * kItemSizes[i];
  }
  std::string compact(offset, '\0');
  std::memcpy(compact.data(), &header, sizeof header);
  for (std::size_t i = 0; i < PLUMB_SECTION_COUNT; ++i) {
    const std::span<const std::byte> section = source->section(static_cast<PlumbSectionKind>(i));
    if (!section.empty()) {
      std::memcpy(compact.data() + header.sections[i].offset, section.data(), section.size());
    }
  }
  return compact;
}

}  // namespace plumb
