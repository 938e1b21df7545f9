#include "run/join.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "run/locate.h"
#include "run/trace_report.h"
#include "trace/symbolise.h"

namespace plumb {

namespace {

// The modules of both traces in one list, each once.
class Modules {
 public:
  Modules(const Trace& found, const Trace& watched) : all_(found.modules) {
    std::map<std::pair<std::string, std::string>, ModuleId> known;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      known.emplace(std::pair(all_[i].path, all_[i].build_id),
                    ModuleId::of(static_cast<std::uint32_t>(i)));
    }
    for (const Module& module : watched.modules) {
      const auto [place, is_new] = known.try_emplace(
          {module.path, module.build_id}, ModuleId::of(static_cast<std::uint32_t>(all_.size())));
      if (is_new) all_.push_back(module);
      renamed_.push_back(place->second);
    }
  }
  const std::vector<Module>& all() const { return all_; }

  TraceAddress rename(TraceAddress address) const {
    if (address.module) address.module = renamed_[address.module->index];
    return address;
  }
  std::vector<TraceAddress> rename(std::vector<TraceAddress> stack) const {
    for (TraceAddress& address : stack) address = rename(address);
    return stack;
  }

 private:
  std::vector<Module> all_;
  std::vector<ModuleId> renamed_;  // of `watched`
};

using NameKey = std::tuple<std::size_t, std::uint64_t, std::uint32_t, std::uint64_t, std::uint64_t>;

std::optional<NameKey> key_of(const TraceName& name, const TraceAddress& caller) {
  if (name.ordinal == 0 || !caller.module) return std::nullopt;
  return NameKey(caller.module->index, caller.offset, name.thread, name.size, name.ordinal);
}

// Blocks of one group that were watched with the same result.
struct Bucket {
  const TraceWatched* watched = nullptr;
  Count direct;
  Count indirect;
  SizeRange sizes;

  void add_direct(std::uint64_t size) {
    sizes.min = direct.blocks == 0 ? size : std::min(sizes.min, size);
    sizes.max = std::max(sizes.max, size);
    ++direct.blocks;
    direct.bytes += size;
  }
  void add_indirect(std::uint64_t size) {
    ++indirect.blocks;
    indirect.bytes += size;
  }
};
using BucketKey =
    std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::optional<Cause>,
               bool, std::uint32_t, PlumbPlaceKind, std::int64_t, std::uint32_t>;

class Joiner {
 public:
  Joiner(const Trace& found, const Trace& watched, Joined& joined)
      : found_(found),
        watched_(watched),
        joined_(joined),
        modules_(found, watched),
        symbols_(modules_.all()) {
    for (const TraceWatched& block : watched.watched) {
      if (const auto key = key_of(block.name, modules_.rename(block.name.caller)); key) {
        by_name_.emplace(*key, &block);
      }
    }
  }

  Report report() {
    Report report = begin_report(found_);
    fill_buckets();
    for (std::size_t i = 0; i < found_.groups.size(); ++i) {
      const TraceGroup& group = found_.groups[i];
      if (group.reach == Reach::unknown) {
        add(report, plain_leak(group));
        continue;
      }
      TraceGroup rest = group;
      for (const auto& [key, bucket] : buckets_) {
        if (std::get<0>(key) != i) continue;
        Leak leak = located_leak(group, bucket);
        rest.direct.blocks -= bucket.direct.blocks;
        rest.direct.bytes -= bucket.direct.bytes;
        rest.indirect.blocks -= bucket.indirect.blocks;
        rest.indirect.bytes -= bucket.indirect.bytes;
        add(report, std::move(leak));
      }
      if (rest.direct.blocks != 0) add(report, plain_leak(rest));
    }
    finish_report(report, found_, symbols_);
    return report;
  }

 private:
  static void add(Report& report, Leak leak) {
    (leak.kind == Kind::lost ? report.totals.lost : report.totals.forgotten) += leak.total();
    report.leaks.push_back(std::move(leak));
  }

  // Null when the second run does not know where this one was lost.
  const TraceWatched* match(const TraceLost& lost) {
    const auto key = key_of(lost.name, lost.name.caller);
    const auto place = key ? by_name_.find(*key) : by_name_.end();
    if (place == by_name_.end()) {
      ++joined_.missing;
      return nullptr;
    }
    const TraceWatched* watched = place->second;
    if (watched->reach != Reach::lost || watched->loss == 0) {
      ++joined_.other;
      return nullptr;
    }
    ++joined_.located;
    return watched;
  }

  // What is still reachable is told apart by its last use and what points to it.
  void fill_kept_buckets() {
    for (const TraceLost& kept : found_.kept) {
      const auto key = key_of(kept.name, kept.name.caller);
      const auto place = key ? by_name_.find(*key) : by_name_.end();
      if (place == by_name_.end() || place->second->reach != Reach::reachable) continue;
      const TraceWatched* watched = place->second;
      const TracePlace& holder = watched->place;
      Bucket& bucket = buckets_[{
          kept.group, watched->allocation, 0, watched->use, std::nullopt, false, 0, holder.kind,
          holder.word.module ? static_cast<std::int64_t>(holder.word.offset) : holder.offset, 0}];
      bucket.watched = watched;
      bucket.add_direct(kept.size);
    }
  }

  void fill_buckets() {
    fill_kept_buckets();
    std::vector<Bucket*> homes(found_.lost.size());
    for (std::size_t i = 0; i < found_.lost.size(); ++i) {
      const TraceLost& lost = found_.lost[i];
      if (lost.leader != i) {  // with its leader, which came before
        if (Bucket* home = homes[lost.leader]; home != nullptr) home->add_indirect(lost.size);
        continue;
      }
      const TraceWatched* watched = match(lost);
      if (watched == nullptr) continue;
      const TracePlace& place = watched->place;
      Bucket& bucket =
          buckets_[{lost.group, watched->allocation, watched->loss, watched->use, watched->cause,
                    watched->returned, watched->trail, place.kind,
                    place.word.module ? static_cast<std::int64_t>(place.word.offset) : place.offset,
                    place.frame}];
      bucket.watched = watched;
      bucket.add_direct(lost.size);
      homes[i] = &bucket;
    }
  }

  Leak plain_leak(const TraceGroup& group) {
    Leak leak = leak_of(group);
    leak.allocation.stack = named_stack(found_.stacks[group.stack], symbols_);
    leak.allocation.api = api_of(leak.allocation.stack, group.api);
    return leak;
  }

  Stack stack_of(std::uint32_t index) {
    return named_stack(modules_.rename(watched_.stacks[index]), symbols_);
  }

  Leak located_leak(const TraceGroup& group, const Bucket& bucket) {
    const TraceWatched& watched = *bucket.watched;
    Leak leak = leak_of(group);
    leak.direct = bucket.direct;
    leak.indirect = bucket.indirect;
    leak.sizes = bucket.sizes;
    leak.allocation.stack = watched.allocation != 0
                                ? stack_of(watched.allocation)
                                : named_stack(found_.stacks[group.stack], symbols_);
    leak.allocation.api = api_of(leak.allocation.stack, group.api);
    if (group.reach == Reach::lost) {
      leak.loss = loss_of(watched);
    } else if (std::optional<Holder> holder = holder_of(watched); holder) {
      leak.holders.push_back(std::move(*holder));
    }
    if (watched.use != 0) {
      leak.last_use = LastUse{};
      leak.last_use->stack = stack_of(watched.use);
      leak.last_use->what = UseKind::access;
      const Frame* from = program_frame(leak.last_use->stack);
      const Frame* to = leak.loss ? program_frame(leak.loss->stack) : nullptr;
      if (from != nullptr && to != nullptr) leak.window = {*from, *to};
    }
    return leak;
  }

  // The innermost frame that has a line and is not the C or C++ library's.
  const Frame* program_frame(const Stack& stack) const {
    const auto place = std::ranges::find_if(stack, [&](const Frame& frame) {
      return frame.line && frame.module &&
             !is_system_library(modules_.all()[frame.module->index].path);
    });
    return place == stack.end() ? nullptr : &*place;
  }

  // What still points to it.
  std::optional<Holder> holder_of(const TraceWatched& watched) {
    if (watched.place.kind == PLUMB_PLACE_NONE) return std::nullopt;
    SeenLoss seen;
    seen.place = watched.place;
    seen.place.word = modules_.rename(watched.place.word);
    // Whose thread-local variables are meant is looked up in the allocation's.
    seen.stack = modules_.rename(watched_.stacks[watched.allocation]);
    if (seen.stack.empty()) return std::nullopt;
    return locate(seen, symbols_).holder;
  }

  Loss loss_of(const TraceWatched& watched) {
    SeenLoss seen;
    seen.cause = watched.cause;
    seen.returned = watched.returned;
    seen.last_read = watched.last_read;
    seen.thrown = watched.thrown;
    seen.not_stored = watched.not_stored;
    seen.allocation = modules_.rename(watched_.stacks[watched.allocation]);
    seen.stack = modules_.rename(watched_.stacks[watched.loss]);
    seen.trail = modules_.rename(watched_.stacks[watched.trail]);
    seen.use = modules_.rename(watched_.stacks[watched.use]);
    seen.place = watched.place;
    seen.place.word = modules_.rename(watched.place.word);
    return locate(seen, symbols_);
  }

  const Trace& found_;
  const Trace& watched_;
  Joined& joined_;
  Modules modules_;
  Symboliser symbols_;
  std::map<NameKey, const TraceWatched*> by_name_;
  std::map<BucketKey, Bucket> buckets_;
};

}  // namespace

Report join_report(const Trace& found, const Trace& watched, Joined& joined) {
  return Joiner(found, watched, joined).report();
}

}  // namespace plumb
