#include "core/merge_rules.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace plumb {

namespace {

template <typename T>
void append(std::vector<T>& into, std::vector<T>&& from) {
  into.insert(into.end(), std::make_move_iterator(from.begin()),
              std::make_move_iterator(from.end()));
}

template <typename T, typename Pick>
void choose(std::optional<T>& into, const std::optional<T>& from, Pick pick) {
  if (!from) return;
  into = into ? pick(*into, *from) : *from;
}

constexpr auto kSmaller = [](double a, double b) { return std::min(a, b); };
constexpr auto kLarger = [](double a, double b) { return std::max(a, b); };
constexpr auto kSum = [](auto a, auto b) { return a + b; };

// Amounts add up; moments span both; durations are the longest seen.
void absorb_age(Age& into, const Age& from) {
  choose(into.first, from.first, kSmaller);
  choose(into.last, from.last, kLarger);
  choose(into.active, from.active, kLarger);
  choose(into.idle, from.idle, kLarger);
  choose(into.missed_chance, from.missed_chance, kLarger);
  choose(into.samples, from.samples, kSum);
  choose(into.bytes_low, from.bytes_low, kSum);
  choose(into.bytes_high, from.bytes_high, kSum);
  if (into.verdict.empty()) into.verdict = from.verdict;
  choose(into.drag, from.drag, kSum);
  choose(into.growth, from.growth, kSum);
  if (into.histogram.size() < from.histogram.size()) into.histogram.resize(from.histogram.size());
  for (std::size_t i = 0; i < from.histogram.size(); ++i) into.histogram[i] += from.histogram[i];
}

void absorb_loss(Leak& into, std::optional<Loss>&& from) {
  if (!from) return;
  if (!into.loss) {
    into.loss = std::move(from);
    return;
  }
  if (!into.loss->cause) into.loss->cause = from->cause;
  if (!from->holder) return;
  if (!into.loss->holder) {
    into.loss->holder = std::move(from->holder);
  } else if (into.loss->holder->name != from->holder->name) {
    into.holders.push_back(std::move(*from->holder));
  }
}

// Fields of a key, each with its length, so that no content can fake a border.
void add_field(std::string& key, std::string_view text) {
  key += fmt::format("{}:", text.size());
  key += text;
}

std::string key_of(const SiblingFree& sibling) {
  std::string key;
  for (const Frame& frame : sibling.stack) {
    add_field(key, frame.function);
    add_field(key, frame.file);
    key += fmt::format("{}:{}:{}:{};", frame.line.value_or(0), frame.column.value_or(0),
                       frame.module ? std::int64_t{frame.module->index} : -1,
                       frame.offset.value_or(0));
  }
  return key;
}

std::string key_of(const Holder& holder) {
  std::string key;
  add_field(key, holder.name);
  add_field(key, holder.type);
  add_field(key, holder.storage);
  for (const std::string& link : holder.chain) add_field(key, link);
  return key;
}

std::string key_of(const Summary& summary) { return summary.function; }

// Keeps the first of those with equal keys; `combine` sees each later one.
template <typename T, typename Combine>
void unite(std::vector<T>& list, Combine combine) {
  std::unordered_map<std::string, std::size_t> first;
  std::vector<T> kept;
  for (T& item : list) {
    const auto [entry, added] = first.try_emplace(key_of(item), kept.size());
    if (added) {
      kept.push_back(std::move(item));
    } else {
      combine(kept[entry->second], item);
    }
  }
  list = std::move(kept);
}

}  // namespace

void unite_extra(Extra& members) {
  std::unordered_set<std::string> seen;
  std::erase_if(members, [&](const auto& member) { return !seen.insert(member.first).second; });
}

void absorb(Leak& into, Leak&& from) {
  into.direct += from.direct;
  into.indirect += from.indirect;
  into.confidence = std::max(into.confidence, from.confidence);
  if (!into.when) into.when = from.when;
  if (into.sizes && from.sizes) {
    into.sizes->min = std::min(into.sizes->min, from.sizes->min);
    into.sizes->max = std::max(into.sizes->max, from.sizes->max);
  } else if (from.sizes) {
    into.sizes = std::move(from.sizes);
  }
  if (into.allocation.api.empty()) into.allocation.api = std::move(from.allocation.api);
  absorb_loss(into, std::move(from.loss));
  if (!into.last_use) {
    into.last_use = std::move(from.last_use);
    into.window = std::move(from.window);
  }
  append(into.frees, std::move(from.frees));
  append(into.holders, std::move(from.holders));
  append(into.summaries, std::move(from.summaries));
  if (into.age && from.age) {
    absorb_age(*into.age, *from.age);
  } else if (from.age) {
    into.age = std::move(from.age);
  }
  if (!into.fix) into.fix = std::move(from.fix);
  if (!from.suppressed) into.suppressed.reset();
  into.known = into.known && from.known;
  append(into.extra, std::move(from.extra));
}

void unite_lists(Leak& leak, SiblingRule siblings) {
  unite(leak.frees, [&](SiblingFree& kept, const SiblingFree& other) {
    if (siblings == SiblingRule::same_process) {
      kept.blocks = std::max(kept.blocks, other.blocks);
    } else {
      kept.blocks += other.blocks;
    }
  });
  unite(leak.holders, [](Holder&, const Holder&) {});
  unite(leak.summaries, [](Summary&, const Summary&) {});
  unite_extra(leak.extra);
}

}  // namespace plumb
