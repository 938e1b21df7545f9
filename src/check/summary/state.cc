#include "check/summary/state.h"

#include <algorithm>

namespace plumb::check {

namespace {

struct CellOrder {
  bool operator()(const Cell& cell, const std::pair<ValueId, std::int64_t>& key) const {
    return std::pair(cell.base, cell.offset) < key;
  }
};

}  // namespace

Fact hull(const Fact& a, const Fact& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.nonzero && b.nonzero};
}

bool implies(const Fact& known, const Fact& wanted) {
  const bool nonzero = known.nonzero || known.low > 0 || known.high < 0;
  return known.low >= wanted.low && known.high <= wanted.high && (!wanted.nonzero || nonzero);
}

bool are_apart(const Fact& a, const Fact& b) {
  const auto is_zero = [](const Fact& fact) { return fact.low == 0 && fact.high == 0; };
  return a.low > b.high || a.high < b.low || (a.nonzero && is_zero(b)) || (b.nonzero && is_zero(a));
}

const Cell* State::find_cell(ValueId base, std::int64_t offset) const {
  const auto at =
      std::lower_bound(cells.begin(), cells.end(), std::pair(base, offset), CellOrder{});
  return at != cells.end() && at->base == base && at->offset == offset ? &*at : nullptr;
}

std::vector<Cell>::const_iterator State::first_cell_of(ValueId base, std::int64_t offset) const {
  return std::lower_bound(cells.begin(), cells.end(), std::pair(base, offset), CellOrder{});
}

void State::set_cell(ValueId base, std::int64_t offset, std::uint32_t width, ValueId value) {
  auto at = std::lower_bound(cells.begin(), cells.end(), std::pair(base, offset), CellOrder{});
  // What the new bytes cover is gone.
  while (at != cells.end() && at->base == base && at->offset > offset &&
         at->offset < offset + static_cast<std::int64_t>(width)) {
    at = cells.erase(at);
  }
  if (at != cells.end() && at->base == base && at->offset == offset) {
    auto next = at + 1;
    while (next != cells.end() && next->base == base &&
           next->offset < offset + static_cast<std::int64_t>(width)) {
      next = cells.erase(next);
    }
    at = std::lower_bound(cells.begin(), cells.end(), std::pair(base, offset), CellOrder{});
    at->width = width;
    at->value = value;
    return;
  }
  cells.insert(at, {base, offset, width, value});
}

void State::drop_cells_of(ValueId base) {
  const auto first = first_cell_of(base);
  auto last = first;
  while (last != cells.end() && last->base == base) ++last;
  cells.erase(first, last);
}

Fact State::fact(const Values& values, ValueId value) const {
  const Value& v = values[value];
  if (v.kind == ValueKind::integer) return {v.number, v.number, v.number != 0};
  const auto at = std::lower_bound(
      facts.begin(), facts.end(), value,
      [](const std::pair<ValueId, Fact>& entry, ValueId id) { return entry.first < id; });
  if (at != facts.end() && at->first == value) return at->second;
  return unlearnt(values, value);
}

Fact State::unlearnt(const Values& values, ValueId value) const {
  const Value& v = values[value];
  if (v.kind == ValueKind::integer) return {v.number, v.number, v.number != 0};
  if (v.kind == ValueKind::compare) return {0, 1, false};
  return implied(values, v);
}

// A sum and a number made wider have bounds when their parts have:
// sums do not wrap around in programs that work.
Fact State::implied(const Values& values, const Value& v) const {
  if (v.kind == ValueKind::binary && v.code == Code::add) {
    const Fact of = fact(values, v.a);
    if (of.trivial()) return {};
    const Fact by = fact(values, v.b);
    Fact sum;
    if (of.low != INT64_MIN && by.low != INT64_MIN &&
        !__builtin_add_overflow(of.low, by.low, &sum.low)) {
      sum.nonzero = sum.low > 0;
    } else {
      sum.low = INT64_MIN;
    }
    if (of.high != INT64_MAX && by.high != INT64_MAX &&
        !__builtin_add_overflow(of.high, by.high, &sum.high)) {
      sum.nonzero = sum.nonzero || sum.high < 0;
    } else {
      sum.high = INT64_MAX;
    }
    return sum;
  }
  if (v.kind == ValueKind::cast && (v.code == Code::sign_extend || v.code == Code::zero_extend)) {
    const Fact of = fact(values, v.a);
    if (v.code == Code::sign_extend || of.low >= 0) return of;
    return {0, INT64_MAX, of.nonzero};
  }
  // A number that fits is the same when it is cut.
  if (v.kind == ValueKind::cast && v.code == Code::truncate && v.width > 0 && v.width < 8) {
    const Fact of = fact(values, v.a);
    const std::int64_t beyond = std::int64_t{1} << (v.width * 8 - 1);
    if (of.low >= -beyond && of.high < beyond) return of;
  }
  return {};
}

bool State::is_trivial(const Values& values, ValueId value, const Fact& fact) {
  const bool truth = values[value].kind == ValueKind::compare;
  return truth ? fact.low <= 0 && fact.high >= 1 && !fact.nonzero : fact.trivial();
}

bool State::learn(const Values& values, ValueId value, const Fact& fact) {
  // One name for many: what holds of one of them, or of none, does not hold of all.
  if (values[value].kind == ValueKind::reach) return true;
  Fact now = this->fact(values, value);
  now.low = std::max(now.low, fact.low);
  now.high = std::min(now.high, fact.high);
  now.nonzero = now.nonzero || fact.nonzero || now.low > 0 || now.high < 0;
  if (now.nonzero && now.low == 0) now.low = 1;
  if (now.nonzero && now.high == 0) now.high = -1;
  if (now.empty()) return false;
  if (values[value].kind == ValueKind::integer) return true;
  auto at = std::lower_bound(
      facts.begin(), facts.end(), value,
      [](const std::pair<ValueId, Fact>& entry, ValueId id) { return entry.first < id; });
  if (at != facts.end() && at->first == value) {
    at->second = now;
  } else {
    facts.insert(at, {value, now});
  }
  if (!now.nonzero) return true;
  // A product that is not zero has no factor that is.
  const Value v = values[value];
  const Fact nonzero{.nonzero = true};
  if (v.kind == ValueKind::cast) return learn(values, v.a, nonzero);
  if (v.kind != ValueKind::binary) return true;
  if (v.code == Code::mul || v.code == Code::bit_and) {
    return learn(values, v.a, nonzero) && learn(values, v.b, nonzero);
  }
  return v.code != Code::shl || learn(values, v.a, nonzero);
}

bool State::is_given(ValueId block) const {
  return std::find(given.begin(), given.end(), block) != given.end();
}

void State::give(ValueId block) {
  if (!is_given(block)) given.push_back(block);
}

ValueId State::result(std::uint32_t operation) const {
  for (const auto& [index, value] : results) {
    if (index == operation) return value;
  }
  return kNoValue;
}

void State::set_result(std::uint32_t operation, ValueId value) {
  for (auto& [index, old] : results) {
    if (index == operation) {
      old = value;
      return;
    }
  }
  results.emplace_back(operation, value);
}

}  // namespace plumb::check
