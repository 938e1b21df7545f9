#include "core/merge.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/merge_rules.h"
#include "core/place.h"

namespace plumb {

namespace {

// What makes two leaks the same leak, as bytes to hash. Each part has its
// length before it.
class KeyBytes {
 public:
  void clear() { bytes_.clear(); }
  void add(std::uint64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void add(std::string_view text) {
    add(text.size());
    bytes_ += text;
  }
  template <typename T>
  void add(const std::optional<T>& value) {
    add(value ? std::uint64_t{*value} : ~std::uint64_t{0});
  }
  void add(const Frame& frame) {
    add(frame.function);
    add(frame.file);
    add(frame.line);
    add(frame.column);
    add(frame.offset);
    add(frame.module ? frame.module->index : ~std::uint64_t{0});
  }
  void add(const Stack& stack) {
    add(stack.size());
    for (const Frame& frame : stack) add(frame);
  }
  std::uint64_t hash() const { return XXH3_64bits(bytes_.data(), bytes_.size()); }

 private:
  std::string bytes_;
};

std::uint64_t hash_key(const Leak& leak, KeyBytes& bytes) {
  bytes.clear();
  bytes.add(static_cast<std::uint64_t>(leak.kind));
  bytes.add(leak.resource);
  bytes.add(leak.allocation.stack);
  bytes.add(loss_stack(leak));
  bytes.add(leak.path.size());
  for (const Step& step : leak.path) bytes.add(step.location);
  return bytes.hash();
}

bool same_frame(const Frame& a, const Frame& b) {
  return a.module == b.module && a.offset == b.offset && a.line == b.line && a.column == b.column &&
         a.inlined == b.inlined && a.function == b.function && a.linkage == b.linkage &&
         a.file == b.file;
}

bool same_stack(const Stack& a, const Stack& b) { return std::ranges::equal(a, b, same_frame); }

bool same_step(const Step& a, const Step& b) {
  return same_frame(a.location, b.location) && a.event == b.event && a.branch == b.branch &&
         a.condition == b.condition && a.call == b.call;
}

bool same_key(const Leak& a, const Leak& b) {
  return a.kind == b.kind && a.resource == b.resource &&
         same_stack(a.allocation.stack, b.allocation.stack) &&
         same_stack(loss_stack(a), loss_stack(b)) && std::ranges::equal(a.path, b.path, same_step);
}

struct KeyOf {
  const Leak* leak;
  std::uint64_t hash;
};
struct HashOfKey {
  std::size_t operator()(const KeyOf& key) const { return key.hash; }
};
struct SameKey {
  bool operator()(const KeyOf& a, const KeyOf& b) const {
    return a.hash == b.hash && same_key(*a.leak, *b.leak);
  }
};

}  // namespace

void merge_leaks(std::vector<Leak>& leaks, SiblingRule siblings) {
  std::vector<Leak> merged;
  merged.reserve(leaks.size());  // the map points into it
  std::vector<bool> grew;
  std::unordered_map<KeyOf, std::size_t, HashOfKey, SameKey> first;
  first.reserve(leaks.size());
  KeyBytes bytes;
  for (Leak& leak : leaks) {
    const std::uint64_t hash = hash_key(leak, bytes);
    if (const auto found = first.find({&leak, hash}); found != first.end()) {
      absorb(merged[found->second], std::move(leak));
      grew[found->second] = true;
      continue;
    }
    merged.push_back(std::move(leak));
    grew.push_back(false);
    first.emplace(KeyOf{&merged.back(), hash}, merged.size() - 1);
  }
  for (std::size_t i = 0; i < merged.size(); ++i) {
    if (grew[i]) unite_lists(merged[i], siblings);
  }
  leaks = std::move(merged);
}

void merge_leaks(std::vector<Leak>& leaks) { merge_leaks(leaks, SiblingRule::same_process); }

}  // namespace plumb
