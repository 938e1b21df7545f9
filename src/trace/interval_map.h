// Which of many address ranges holds an address.
//
// Ranges are added in any order and may overlap, as the ranges of nested
// scopes and of duplicate symbols do; finish() cuts them into disjoint pieces,
// each owned by one range, so that find() is one binary search.
// Of the ranges that hold an address the one of the highest rank owns it;
// among equals the one that begins last, then the one that ends first, then
// the one added first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace plumb {

template <typename Value>
class IntervalMap {
 public:
  // [begin, end); an empty or backward range is ignored.
  void add(std::uint64_t begin, std::uint64_t end, Value value, std::uint32_t rank = 0) {
    if (begin >= end) return;
    const auto order = static_cast<std::uint32_t>(ranges_.size());
    ranges_.push_back({begin, end, rank, order, std::move(value)});
  }

  std::size_t pending() const { return ranges_.size(); }

  // After this nothing is added any more.
  void finish() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
      return std::tuple(a.begin, a.order) < std::tuple(b.begin, b.order);
    });
    const auto weaker = [this](std::size_t a, std::size_t b) {
      const Range& x = ranges_[a];
      const Range& y = ranges_[b];
      return std::tuple(x.rank, x.begin, y.end, y.order) <
             std::tuple(y.rank, y.begin, x.end, x.order);
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(weaker)> open(weaker);
    std::uint64_t at = 0;
    // Hands the addresses from `at` to `limit` to the strongest open ranges.
    const auto sweep_to = [&](std::uint64_t limit) {
      while (at < limit && !open.empty()) {
        const Range& top = ranges_[open.top()];
        if (top.end <= at) {
          open.pop();
          continue;
        }
        const std::uint64_t end = std::min(top.end, limit);
        if (!pieces_.empty() && pieces_.back().owner == open.top() && pieces_.back().end == at) {
          pieces_.back().end = end;
        } else {
          pieces_.push_back({at, end, open.top()});
        }
        at = end;
      }
      at = limit;
    };
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      sweep_to(ranges_[i].begin);
      open.push(i);
    }
    sweep_to(UINT64_MAX);
  }

  // Null when no range holds the address. Call after finish().
  const Value* find(std::uint64_t address) const {
    auto next = std::upper_bound(
        pieces_.begin(), pieces_.end(), address,
        [](std::uint64_t value, const Piece& piece) { return value < piece.begin; });
    if (next == pieces_.begin()) return nullptr;
    const Piece& piece = *std::prev(next);
    return address < piece.end ? &ranges_[piece.owner].value : nullptr;
  }

 private:
  struct Range {
    std::uint64_t begin, end;
    std::uint32_t rank, order;
    Value value;
  };
  struct Piece {
    std::uint64_t begin, end;
    std::size_t owner;
  };
  std::vector<Range> ranges_;
  std::vector<Piece> pieces_;  // disjoint, ascending
};

}  // namespace plumb
