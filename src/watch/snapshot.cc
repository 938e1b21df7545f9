#include "watch/snapshot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb {

namespace {

constexpr std::array<std::uint32_t, PLUMB_WATCH_SECTIONS> kItemSizes = {
    sizeof(PlumbWatchSite),  sizeof(PlumbWatchBlock), sizeof(PlumbWatchFree),
    sizeof(PlumbWatchPoint), sizeof(float),           1};
constexpr std::array<std::string_view, PLUMB_WATCH_SECTIONS> kSectionNames = {
    "sites", "blocks", "frees", "history", "curves", "trace"};

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

// The last whole snapshot of a file that they are put into by turns.
Result<std::span<const std::byte>> last_turn(std::span<const std::byte> bytes,
                                             std::string_view name) {
  const auto damaged = [&](const char* what) {
    return fail(std::string(name), what, "the program may be writing it just now: read it again");
  };
  PlumbWatchTurns turns;
  if (bytes.size() < sizeof turns) return damaged("cut off in the header");
  std::memcpy(&turns, bytes.data(), sizeof turns);
  if (turns.offset > bytes.size() || turns.size > bytes.size() - turns.offset) {
    return damaged("the snapshot in it is cut off");
  }
  const std::span<const std::byte> last = bytes.subspan(turns.offset, turns.size);
  std::uint64_t check = PLUMB_WATCH_CHECK_START;
  for (std::size_t at = 0; at + sizeof check <= last.size(); at += sizeof check) {
    std::uint64_t word = 0;
    std::memcpy(&word, last.data() + at, sizeof word);
    check = PLUMB_WATCH_CHECK_STEP(check, word);
  }
  if (check != turns.check) return damaged("the snapshot in it is not whole");
  return last;
}

// The bytes, with the checked header in front.
class Source {
 public:
  static Result<Source> open(std::span<const std::byte> bytes, std::string_view name);

  const PlumbWatchHeader& header() const { return header_; }
  std::uint64_t count(PlumbWatchSectionKind kind) const { return header_.sections[kind].used; }
  template <typename T>
  T item(PlumbWatchSectionKind kind, std::uint64_t index) const {
    T item;
    std::memcpy(&item, bytes_.data() + header_.sections[kind].offset + index * sizeof(T),
                sizeof(T));
    return item;
  }
  std::span<const std::byte> trace() const {
    const PlumbSection& section = header_.sections[PLUMB_WATCH_TRACE];
    return bytes_.subspan(section.offset, section.used);
  }
  std::unexpected<Error> damaged(std::string what) const {
    return fail(std::string(name_), std::move(what), "the snapshot is damaged; take another one");
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view name_;
  PlumbWatchHeader header_{};
};

Result<Source> Source::open(std::span<const std::byte> bytes, std::string_view name) {
  constexpr std::string_view kTurns = PLUMB_WATCH_TURNS_MAGIC;
  if (bytes.size() >= kTurns.size() &&
      std::memcmp(bytes.data(), kTurns.data(), kTurns.size()) == 0) {
    const Result<std::span<const std::byte>> last = last_turn(bytes, name);
    if (!last) return std::unexpected(last.error());
    bytes = *last;
  }
  Source source;
  source.bytes_ = bytes;
  source.name_ = name;
  constexpr std::size_t kPrologue = offsetof(PlumbWatchHeader, pid);
  if (bytes.size() < kPrologue ||
      std::memcmp(bytes.data(), PLUMB_WATCH_MAGIC, sizeof source.header_.magic) != 0) {
    return fail(std::string(name), "not a snapshot of plumb's");
  }
  std::memcpy(&source.header_, bytes.data(), kPrologue);
  if (source.header_.version != PLUMB_WATCH_VERSION) {
    return fail(std::string(name),
                fmt::format("snapshot format {}, this build reads {}", source.header_.version,
                            PLUMB_WATCH_VERSION),
                "use the plumb that wrote it");
  }
  if (source.header_.header_size != sizeof(PlumbWatchHeader) ||
      bytes.size() < sizeof(PlumbWatchHeader)) {
    return source.damaged("cut off in the header");
  }
  std::memcpy(&source.header_, bytes.data(), sizeof source.header_);
  for (std::size_t kind = 0; kind < PLUMB_WATCH_SECTIONS; ++kind) {
    PlumbSection& section = source.header_.sections[kind];
    if (section.used == 0) {
      section.offset = 0;
    } else if (section.item_size != kItemSizes[kind] || section.offset > bytes.size() ||
               section.used > (bytes.size() - section.offset) / kItemSizes[kind]) {
      return source.damaged(fmt::format("cut off in section {}", kSectionNames[kind]));
    }
  }
  return source;
}

std::vector<std::string> words_of(const char (&text)[512]) {
  std::vector<std::string> words;
  const char* at = text;
  const char* end = text + sizeof text;
  while (at < end && *at != 0) {
    const std::size_t size = strnlen(at, static_cast<std::size_t>(end - at));
    words.push_back(to_utf8(std::string_view(at, size)));
    at += size + 1;
  }
  return words;
}

bool is_figure(double value) { return std::isfinite(value) && value >= -1e6 && value < 1e18; }

double weight_of(const PlumbWatchBlock& block) {
  const double share =
      (static_cast<double>(block.size) + PLUMB_WATCH_PAD) / static_cast<double>(block.mean);
  return -1 / std::expm1(-share);
}

Result<void> read_sites(const Source& source, WatchSnapshot& snapshot) {
  const std::uint64_t points = snapshot.history.size();
  const std::uint64_t count = source.count(PLUMB_WATCH_SITES);
  if (points != 0 && source.count(PLUMB_WATCH_CURVES) / points != count) {
    return source.damaged("the curves do not fit the sites");
  }
  snapshot.sites.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    WatchSite& site = snapshot.sites[i];
    site.sums = source.item<PlumbWatchSite>(PLUMB_WATCH_SITES, i);
    site.api = api_name(site.sums.api);
    for (const double figure : {site.sums.allocated_blocks, site.sums.allocated_bytes,
                                site.sums.freed_blocks, site.sums.freed_bytes}) {
      if (!is_figure(figure)) return source.damaged(fmt::format("site {} has no figures", i));
    }
    for (std::uint64_t p = 0; p < points; ++p) {
      const double bytes =
          static_cast<double>(source.item<float>(PLUMB_WATCH_CURVES, i * points + p));
      if (!is_figure(bytes)) return source.damaged(fmt::format("site {} has no curve", i));
      site.curve.push_back(std::max(bytes, 0.0));
    }
  }
  return {};
}

Result<void> read_blocks(const Source& source, WatchSnapshot& snapshot) {
  for (std::uint64_t i = 0; i < source.count(PLUMB_WATCH_BLOCKS); ++i) {
    const auto block = source.item<PlumbWatchBlock>(PLUMB_WATCH_BLOCKS, i);
    if (block.site >= snapshot.sites.size() || block.mean == 0 || block.birth > block.last ||
        block.last > source.header().now || block.size > std::uint64_t{1} << 48) {
      return source.damaged(fmt::format("block {} is not one", i));
    }
    snapshot.sites[block.site].blocks.push_back(
        {static_cast<double>(block.size), weight_of(block), seconds(block.birth),
         seconds(block.last), (block.flags & PLUMB_WATCH_OBSERVED) != 0, block.touches,
         block.access, block.burst, (block.flags & PLUMB_WATCH_PARTED) != 0,
         (block.flags & PLUMB_WATCH_LOST) != 0});
    for (const std::uint32_t stack : {block.access, block.burst}) {
      if (stack != 0) snapshot.accesses.try_emplace(stack);
    }
  }
  return {};
}

Result<void> read_stacks(const Source& source, std::string_view name, WatchSnapshot& snapshot) {
  std::vector<std::uint32_t> ids;
  for (const WatchSite& site : snapshot.sites) ids.push_back(site.sums.stack);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> frees;  // site, samples
  for (std::uint64_t i = 0; i < source.count(PLUMB_WATCH_FREES); ++i) {
    const auto entry = source.item<PlumbWatchFree>(PLUMB_WATCH_FREES, i);
    if (entry.site >= snapshot.sites.size()) return source.damaged("a free of an unknown site");
    frees.emplace_back(entry.site, entry.samples);
    ids.push_back(entry.stack);
  }
  const std::size_t others = ids.size();
  for (const auto& [id, stack] : snapshot.accesses) ids.push_back(id);
  Result<Trace> trace = read_trace_stacks(source.trace(), name, ids);
  if (!trace) return std::unexpected(trace.error());
  std::size_t next = others;
  for (auto& [id, stack] : snapshot.accesses) stack = std::move(trace->stacks[next++]);
  snapshot.modules = std::move(trace->modules);
  for (std::size_t i = 0; i < snapshot.sites.size(); ++i) {
    snapshot.sites[i].stack = std::move(trace->stacks[i]);
  }
  for (std::size_t i = 0; i < frees.size(); ++i) {
    snapshot.sites[frees[i].first].frees.push_back(
        {std::move(trace->stacks[snapshot.sites.size() + i]), frees[i].second});
  }
  return {};
}

}  // namespace

bool is_snapshot(std::string_view start) {
  return start.starts_with(PLUMB_WATCH_MAGIC) || start.starts_with(PLUMB_WATCH_TURNS_MAGIC);
}

Result<WatchSnapshot> read_snapshot(std::span<const std::byte> bytes, std::string_view name) {
  const Result<Source> source = Source::open(bytes, name);
  if (!source) return std::unexpected(source.error());
  const PlumbWatchHeader& header = source->header();
  if (header.phase < PLUMB_WATCH_RUNNING || header.phase > PLUMB_WATCH_OTHER) {
    return source->damaged("unknown phase");
  }
  if (header.search > PLUMB_WATCH_SEARCH_FAILED) return source->damaged("unknown search");
  WatchSnapshot snapshot;
  snapshot.pid = header.pid;
  snapshot.phase = static_cast<PlumbWatchPhase>(header.phase);
  snapshot.limits = header.limits;
  snapshot.search = static_cast<PlumbWatchSearch>(header.search);
  snapshot.now = seconds(header.now);
  snapshot.elapsed = seconds(header.elapsed);
  snapshot.started = header.started;
  snapshot.epochs = header.epochs;
  // They get longer than asked for where the program is busy on many cores.
  snapshot.epoch =
      std::max(seconds(header.epoch),
               header.epochs == 0 ? 0 : snapshot.now / static_cast<double>(header.epochs));
  snapshot.mean = header.mean;
  snapshot.own_time = seconds(header.own_time);
  snapshot.problem =
      to_utf8(std::string_view(header.problem_text, strnlen(header.problem_text, 256)));
  snapshot.command = words_of(header.command);
  for (std::uint64_t i = 0; i < source->count(PLUMB_WATCH_HISTORY); ++i) {
    const auto point = source->item<PlumbWatchPoint>(PLUMB_WATCH_HISTORY, i);
    if (i >= PLUMB_WATCH_POINTS || !is_figure(point.heap_bytes) || !is_figure(point.live_blocks) ||
        !is_figure(point.idle_bytes)) {
      return source->damaged("the history has no figures");
    }
    snapshot.history.push_back(point);
  }
  if (Result<void> good = read_sites(*source, snapshot); !good) {
    return std::unexpected(good.error());
  }
  if (Result<void> good = read_blocks(*source, snapshot); !good) {
    return std::unexpected(good.error());
  }
  if (!snapshot.sites.empty()) {
    if (Result<void> good = read_stacks(*source, name, snapshot); !good) {
      return std::unexpected(good.error());
    }
  }
  return snapshot;
}

}  // namespace plumb
