#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

namespace {

// A cell that stands for all bytes of its object that have no cell of their
// own: the integer 0, or any other value for "unknown".
constexpr std::int64_t kRest = INT64_MIN;
constexpr std::int64_t kLongestCopy = 256;
constexpr std::size_t kMostMoves = 4;   // per function
constexpr std::size_t kMostMoved = 32;  // cells, by one move
constexpr std::uint32_t kWord = 8;

}  // namespace

// Memory that is neither a local variable nor a block of this path.
bool FunctionRun::is_outside(ValueId base) const {
  const Value& v = values_[base];
  if (v.kind == ValueKind::index || v.kind == ValueKind::element) {
    return is_outside(values_.place(v.a).base);
  }
  if (v.kind != ValueKind::object) return true;
  const ObjectKind kind = ObjectId{v.number}.kind();
  return kind == ObjectKind::global || kind == ObjectKind::function;
}

// What a parameter points to, or a container that is there. A block that is followed from
// where it is made can also be followed in what a member of that points to.
bool FunctionRun::is_passed(const Value& base) const {
  if (base.kind == ValueKind::cell && mode_ == Mode::site) {
    return values_[base.a].kind == ValueKind::param;
  }
  if (base.kind != ValueKind::element) return base.kind == ValueKind::param;
  return values_[values_.place(base.a).base].kind == ValueKind::param;
}

// Is a block that is put there out of sight?
bool FunctionRun::is_foreign(ValueId base) const {
  if (values_.is_heap(values_.target(base)) || !is_outside(base)) return false;
  const Value& v = values_[base];
  return !is_passed(v) && (global_of(base) == kNotParked || !is_followed_in_global(v));
}

// What memory that nothing has written yet holds.
ValueId FunctionRun::initial(ValueId base, std::int64_t offset, std::uint32_t width) {
  const Value v = values_[base];
  if (v.kind == ValueKind::object) {
    const ObjectId object{v.number};
    if (object.kind() == ObjectKind::global) {
      const ProgramSymbol& symbol = program_.symbol(ProgramSymbolId::of(object.index()));
      const Global* global = symbol.global;
      if (global && global->defined && (global->constant || !symbol.written)) {
        const auto from = std::ranges::lower_bound(
            global->initial, offset, {},
            [](const Initial& each) { return static_cast<std::int64_t>(each.offset); });
        for (auto at = from; at != global->initial.end(); ++at) {
          const Initial& entry = *at;
          if (static_cast<std::int64_t>(entry.offset) != offset) break;
          if (entry.width != width || entry.width == 0) continue;
          if (!entry.is_symbol) return values_.integer(entry.value);
          const ProgramSymbolId to = program_.resolve(symbol.global_unit, entry.symbol);
          const ProgramSymbol& target = program_.symbol(to);
          const ObjectKind kind =
              target.function || target.declaration ? ObjectKind::function : ObjectKind::global;
          return values_.pointer(values_.object(ObjectId::of(kind, to.index)), entry.value);
        }
        const auto reaches_in = [&](const Initial& each) {
          const auto at = static_cast<std::uint64_t>(offset);
          const auto size = each.width ? each.width : static_cast<std::uint64_t>(each.value);
          return at >= each.offset ? at - each.offset < size : each.offset - at < width;
        };
        if ((from != global->initial.end() && reaches_in(*from)) ||
            (from != global->initial.begin() && reaches_in(*std::prev(from)))) {
          return values_.cell(base, offset, width);
        }
        // A pointer that all see and nobody sets is set by code that we do not have.
        const bool open = !global->constant && global->linkage != Linkage::internal;
        if (!open || width != kWord) return values_.integer(0);
      }
    }
    if (object.kind() == ObjectKind::var || object.kind() == ObjectKind::heap)
      return values_.fresh();
  }
  return values_.cell(base, offset, width);
}

// What is used to index an array that the function was given is not negative: no
// count or position that it could also return as an error.
void FunctionRun::note_index(State& state, const Value& base) {
  // What a callee does on one of its paths says nothing of the others.
  if (base.kind != ValueKind::index || applying_) return;
  ValueId by = base.b;
  while (values_[by].kind == ValueKind::cast) by = values_[by].a;
  const ValueKind kind = values_[by].kind;
  if (kind == ValueKind::cell || kind == ValueKind::param) {
    (void)state.learn(values_, by, {0, INT64_MAX, false});
  }
}

// What is accessed through a pointer on a path that goes on was no null.
void FunctionRun::note_access(State& state, ValueId pointer) {
  const ValueId target = values_.target(pointer);
  const ValueKind kind = values_[target].kind;
  if (kind != ValueKind::param && kind != ValueKind::cell && kind != ValueKind::fresh &&
      kind != ValueKind::merge) {
    return;
  }
  if (!state.learn(values_, target, {.nonzero = true})) state.fate = Fate::escaped;
}

ValueId FunctionRun::load(State& state, ValueId pointer, std::uint32_t width) {
  const auto [base, offset] = values_.place(pointer);
  const Value v = values_[base];
  if (v.kind == ValueKind::element) return load_element(state, base, width);
  note_index(state, v);
  if (v.kind == ValueKind::object && ObjectId{v.number}.kind() == ObjectKind::var && offset == 0) {
    const std::uint32_t var = ObjectId{v.number}.index();
    if (body_.vars[var].simple) {
      if (state.vars[var] == kNoValue) state.vars[var] = values_.fresh();
      return state.vars[var];
    }
  }
  if (const Cell* cell = state.find_cell(base, offset)) {
    if (cell->width == width || values_.is_zero(cell->value)) return cell->value;
    if (cell->width > width && values_[cell->value].kind != ValueKind::fresh) {
      return values_.cast(Code::truncate, cell->value, width);
    }
    if (cell->width < width) return composed(state, base, offset, width);
    return values_.fresh();
  }
  if (const ValueId found = perhaps_focus(state, base, offset, width); found != kNoValue) {
    return found;
  }
  ValueId value = kNoValue;
  if (const Cell* rest = state.find_cell(base, kRest)) {
    value = values_.is_zero(rest->value) ? rest->value : values_.fresh();
  } else {
    value = initial(base, offset, width);
  }
  state.set_cell(base, offset, width, value);
  return value;
}

// An element of the array that has the followed block, and perhaps the one that has it: it is
// not read by the number that it was written by when a loop frees the elements from behind.
// It is taken for that one, so that such a loop frees all.
ValueId FunctionRun::perhaps_focus(const State& state, ValueId base, std::int64_t offset,
                                   std::uint32_t width) {
  const Value element = values_[base];
  if (mode_ != Mode::site || state.fate != Fate::live || element.kind != ValueKind::index ||
      width != kWord || element.number <= 0) {
    return kNoValue;
  }
  const ValueId array = values_.target(base);
  const auto [start, first] = values_.place(element.a);
  for (const Cell& cell : state.cells) {
    if (cell.width != width || !is_focus(cell.value) || values_.target(cell.base) != array)
      continue;
    const Value holder = values_[cell.base];
    if (cell.base == start) {
      const std::int64_t distance = cell.offset - first - offset;
      const std::int64_t number = distance / element.number;
      if (distance < 0 || distance % element.number != 0) continue;
      const ValueId same = values_.compare(Code::eq, element.b, values_.integer(number), kWord);
      if (decide(state, same) != 0) return cell.value;
    } else if (holder.kind == ValueKind::index && holder.a == element.a &&
               holder.number == element.number && cell.offset == offset) {
      const ValueId same = values_.compare(Code::eq, element.b, holder.b, kWord);
      if (decide(state, same) != 0) return cell.value;
    }
  }
  return kNoValue;
}

// A word that was written in parts: two counts that are looked at together.
ValueId FunctionRun::composed(const State& state, ValueId base, std::int64_t offset,
                              std::uint32_t width) {
  if (width > kWord) return values_.fresh();
  ValueId whole = values_.integer(0);
  for (std::uint32_t at = 0; at < width;) {
    const Cell* part = state.find_cell(base, offset + at);
    if (at > 0 && !part) {
      // Padding, or what nobody has looked at: it stays apart from the rest.
      const ValueId rest = values_.fresh();
      return values_.binary(Code::bit_or, whole,
                            values_.binary(Code::shl, rest, values_.integer(at * 8), width), width);
    }
    if (!part || part->width == 0 || at + part->width > width) return values_.fresh();
    const ValueId wide = values_.cast(Code::zero_extend, part->value, width);
    const ValueId placed = values_.binary(Code::shl, wide, values_.integer(at * 8), width);
    whole = values_.binary(Code::bit_or, whole, placed, width);
    at += part->width;
  }
  return whole;
}

// In a place of the global's own a block can be followed on; what is below is foreign. So
// can one that the function was given, or an element that the caller names, if there is no
// cycle of calls, which could come by there again.
bool FunctionRun::is_followed_in_global(const Value& base) const {
  if (mode_ == Mode::plain) return false;
  const bool own = base.kind == ValueKind::object;
  if (mode_ == Mode::site) return own;
  const bool named = base.kind == ValueKind::index && values_[base.b].kind == ValueKind::param &&
                     values_[base.a].kind == ValueKind::object;
  return (own || named) && known_.component.size() == 1;
}

void FunctionRun::store(State& state, ValueId pointer, std::uint32_t width, ValueId value) {
  const auto [base, offset] = values_.place(pointer);
  const Value v = values_[base];
  if (v.kind == ValueKind::integer) {  // a fixed address: not ours
    escape(state, value);
    return;
  }
  note_index(state, v);
  if (v.kind == ValueKind::object && ObjectId{v.number}.kind() == ObjectKind::var && offset == 0 &&
      body_.vars[ObjectId{v.number}.index()].simple) {
    state.vars[ObjectId{v.number}.index()] = value;
    return;
  }
  if (v.kind == ValueKind::element) {
    store_element(state, base, value);
  } else {
    state.set_cell(base, offset, width, value);
    if (width == 1) blur_text(state, base);
  }
  // Which element of an array a later round has is not known, nor which it had before.
  if (later_round_ && v.kind == ValueKind::index && is_focus(value)) {
    escape(state, value);
    return;
  }
  // Kept in a structure that we cannot follow: it is somebody else's now.
  if (values_[values_.target(value)].kind == ValueKind::integer) return;
  const ValueId holder = values_.target(base);
  const bool in_block = values_.is_heap(holder);
  const bool foreign = (holder != focus_ && state.is_given(holder)) ||
                       (!in_block && is_outside(base) && !is_passed(v));
  if (foreign) {
    const Value& root = values_[values_.root(base)];
    const bool global =
        root.kind == ValueKind::object && ObjectId{root.number}.kind() == ObjectKind::global;
    if (global && state.fate == Fate::live && focus_ != kNoValue && is_focus(value)) {
      park(state, ObjectId{root.number}.index());
    }
    if (in_block && is_focus(value)) park_below(state, holder);
    if (!global || !is_followed_in_global(v) || values_.target(value) != focus_) {
      escape(state, value);
    }
  } else if ((in_block || is_outside(base)) && storing_pointer_ && width == kWord) {
    touch_input(value);  // a new block that takes it may be handed out
    take_where_held(state, value);
  }
}

// A character of a text was written, nobody knows which: it may be one that was known, and
// whether a text is empty is said by its first.
void FunctionRun::blur_text(State& state, ValueId written) {
  const Value v = values_[written];
  if (v.kind != ValueKind::index || v.number != 1) return;
  const auto [base, start] = values_.place(v.a);
  const std::int64_t nearest = std::max<std::int64_t>(0, state.fact(values_, v.b).low);
  const bool filled = !state.find_cell(base, start) && state.find_cell(base, kRest);
  if (filled && nearest == 0) state.set_cell(base, start, 1, values_.fresh());
  for (Cell& cell : state.cells) {
    const bool is_text = cell.base == base && cell.width == 1 && cell.offset - start >= nearest;
    if (is_text && values_.is_integer(cell.value)) cell.value = values_.fresh();
  }
}

// An aggregate in a register is kept as two words, or as the value of the first; what
// further words hold goes out of sight.
ValueId FunctionRun::load_whole(State& state, ValueId from, std::uint32_t width) {
  // One of absurd size goes out of sight at once.
  if (width > kLongestCopy) escape(state, from);
  if (width > kWord && width <= 2 * kWord) {
    const ValueId first = load(state, from, kWord);
    return values_.pair(first, load(state, values_.pointer(from, kWord), width - kWord));
  }
  for (std::uint32_t at = kWord; at < width && at < kLongestCopy; at += kWord) {
    escape(state, load(state, values_.pointer(from, at), kWord));
  }
  return load(state, from, std::min(width, kWord));
}

void FunctionRun::copy(State& state, ValueId to, ValueId from, ValueId length) {
  const auto [base, offset] = values_.place(to);
  const auto [source, start] = values_.place(from);
  const Value size = values_[length];
  if (size.kind != ValueKind::integer || size.number > kLongestCopy || size.number < 0) {
    // So much that the fields do not matter: what the source holds is shared.
    std::vector<ValueId> held;
    for (const Cell& cell : state.cells) {
      if (cell.base == source) held.push_back(cell.value);
    }
    for (const ValueId value : held) escape(state, value);
    state.set_cell(base, kRest, 0, values_.fresh());
    blur_text(state, base);
    return;
  }
  struct Part {
    std::int64_t at;
    std::uint32_t width;
    ValueId value;
  };
  std::vector<Part> parts;
  std::int64_t at = 0;
  while (at < size.number) {
    const auto next = state.first_cell_of(source, start + at);
    const bool none = next == state.cells.end() || next->base != source;
    const std::int64_t known = none ? size.number : std::min(size.number, next->offset - start);
    if (known == at) {
      parts.push_back({at, next->width, next->value});
      at += std::max<std::int64_t>(1, next->width);
      continue;
    }
    // The widest part that fits before the next one that is known.
    std::uint32_t wide = kWord;
    while (at % wide != 0 || at + wide > known) wide /= 2;
    parts.push_back({at, wide, load(state, values_.pointer(from, at), wide)});
    at += wide;
  }
  std::erase_if(state.cells, [&](const Cell& cell) {
    return cell.base == base && cell.offset >= offset && cell.offset < offset + size.number;
  });
  for (const Part& part : parts) store(state, values_.pointer(to, part.at), part.width, part.value);
}

void FunctionRun::fill(State& state, ValueId to, ValueId byte, ValueId length) {
  const auto [base, offset] = values_.place(to);
  const Value v = values_[base];
  if (v.kind == ValueKind::object && ObjectId{v.number}.kind() == ObjectKind::var &&
      body_.vars[ObjectId{v.number}.index()].simple) {
    state.vars[ObjectId{v.number}.index()] = values_.is_zero(byte) ? byte : values_.fresh();
    return;
  }
  const Value size = values_[length];
  const std::int64_t end = size.kind == ValueKind::integer ? offset + size.number : INT64_MAX;
  std::erase_if(state.cells, [&](const Cell& cell) {
    return cell.base == base && cell.offset >= offset && cell.offset < end;
  });
  const ValueId rest = values_.is_zero(byte) ? byte : values_.fresh();
  if (!is_outside(base)) {
    state.set_cell(base, kRest, 0, rest);
  } else if (size.kind == ValueKind::integer && size.number <= kLongestCopy) {
    for (std::int64_t at = 0; at + 8 <= size.number; at += 8)
      state.set_cell(base, offset + at, 8, rest);
  }
}

// A place in `from` as the same place in `to`.
ValueId FunctionRun::rebased(ValueId base, ValueId from, ValueId to) {
  if (base == from) return to;
  const Value v = values_[base];
  if (v.kind == ValueKind::index) return values_.index(rebased(v.a, from, to), v.b, v.number);
  if (v.kind == ValueKind::pointer) return values_.pointer(rebased(v.a, from, to), v.number);
  if (v.kind == ValueKind::element) {
    return values_.element(rebased(v.a, from, to), static_cast<Elements>(v.number));
  }
  return base;
}

// The new block takes over what the old one held.
void FunctionRun::move(State& state, ValueId from, ValueId to) {
  from = values_.target(from);
  to = values_.target(to);
  const ValueKind kind = values_[from].kind;
  if (from == to || kind == ValueKind::integer) return;
  const bool is_input = values_[values_.root(from)].kind == ValueKind::param;
  if (mode_ == Mode::plain && is_input && values_.is_heap(to)) {
    const Move made{from, to};
    if (plain_moves_.size() < kMostMoves &&
        std::find(plain_moves_.begin(), plain_moves_.end(), made) == plain_moves_.end()) {
      plain_moves_.push_back(made);
    }
  }
  if (!values_.is_heap(from)) return;
  // Blocks that it held matter most, then what stands before and between them: where an
  // array ends is said by a null in it.
  std::vector<Cell> moved;
  for (const bool blocks : {true, false}) {
    for (const Cell& cell : state.cells) {
      if (moved.size() == kMostMoved) break;
      if (values_.target(cell.base) != from || cell.width == 0) continue;
      if (values_.is_heap(values_.target(cell.value)) == blocks) moved.push_back(cell);
    }
  }
  for (const Cell& cell : moved) {
    const auto [base, extra] = values_.place(rebased(cell.base, from, to));
    state.set_cell(base, cell.offset + extra, cell.width, cell.value);
  }
}

void FunctionRun::free_value(State& state, ValueId value) {
  if (values_.is_integer(value)) return;
  const ValueId target = values_.target(value);
  if (target == focus_ && focus_ != kNoValue) {
    // Others had it before, with what it held: the caller cannot know what became of that.
    const bool seen = mode_ == Mode::input && state.fate == Fate::escaped;
    if (!seen) state.fate = Fate::freed;
    return;
  }
  touch_input(value, true, true);
  take_where_held(state, value, true);
  if (mode_ != Mode::plain && state.fate == Fate::live) {
    // Something out of an array or a chain whose parts are not told apart: it
    // may be any of them, and a loop frees the others.
    const ValueId root = values_.root(value);
    const bool unclear = target != value || values_[target].kind == ValueKind::reach ||
                         values_[target].kind == ValueKind::fresh ||
                         values_[target].kind == ValueKind::merge ||
                         values_[target].kind == ValueKind::cell;
    if (unclear && root != value) {
      for (const Cell& cell : state.cells) {
        if (is_focus(cell.value) && values_.root(cell.base) == root &&
            (values_[cell.base].kind == ValueKind::index ||
             values_[cell.base].kind == ValueKind::element || global_of(cell.base) != kNotParked)) {
          state.fate = Fate::freed;
          return;
        }
      }
    }
    if (values_[target].kind == ValueKind::reach) {
      const ValueId top = values_[target].a;
      if (values_.root(focus_) == values_.root(top) && mode_ == Mode::input) {
        state.fate = Fate::freed;
        return;
      }
    }
  }
  state.drop_cells_of(target);
  // A container that is in it ends with it, and its elements were in nothing else.
  std::erase_if(state.cells, [&](const Cell& cell) {
    return values_[cell.base].kind == ValueKind::element && values_.target(cell.base) == target;
  });
  // Nor is the followed block there any more when the caller had it in there.
  if (mode_ == Mode::input && state.fate == Fate::live) {
    const Value own = values_[focus_];
    if (own.kind == ValueKind::cell && own.a == target) {
      state.set_cell(own.a, own.number, own.width, values_.fresh());
    }
  }
}

// From here on somebody else may use, keep or free them and what they lead to.
void FunctionRun::escape(State& state, std::span<const ValueId> values) {
  if (escaped_.size() < values_.size()) escaped_.resize(values_.size(), 0);
  ++escape_round_;
  escaping_.clear();
  arrays_escape_ = false;
  for (const ValueId value : values) escape_value(state, value);
  // What is stored in what went away goes too. Elements of an array belong to the
  // array: they are looked for once all else is done, and again if there were some.
  for (std::size_t next = 0; next < escaping_.size();) {
    for (; next < escaping_.size(); ++next) {
      escape_what_is_in(state, escaping_[next]);
      escape_work(state);
    }
    if (!arrays_escape_) break;
    for (const Cell& cell : state.cells) {
      const ValueId array = values_.target(cell.base);
      if (array == cell.base || !is_escaped(array)) continue;
      if (cell.value != kNoValue && !is_escaped(cell.value)) escape_work_.push_back(cell.value);
    }
    escape_work(state);
  }
}

void FunctionRun::escape_work(State& state) {
  for (const ValueId value : escape_work_) escape_value(state, value);
  escape_work_.clear();
}

// Puts down what the places of `base` hold.
void FunctionRun::escape_what_is_in(const State& state, ValueId base) {
  for (auto cell = state.first_cell_of(base); cell != state.cells.end() && cell->base == base;
       ++cell) {
    if (cell->value != kNoValue && !is_escaped(cell->value)) escape_work_.push_back(cell->value);
  }
}

// The value itself and what it is computed from.
void FunctionRun::escape_value(State& state, ValueId value) {
  std::vector<ValueId> work{value};
  while (!work.empty()) {
    const ValueId next = work.back();
    work.pop_back();
    if (next == kNoValue || is_escaped(next)) continue;
    escaped_[next.index] = escape_round_;
    escaping_.push_back(next);
    arrays_escape_ = arrays_escape_ || values_.has_elements(next);
    if (next == focus_) {
      if (state.fate == Fate::live) state.fate = Fate::escaped;
    }
    const Value v = values_[next];
    switch (v.kind) {
      case ValueKind::pointer:
      case ValueKind::index:
      case ValueKind::element:
      case ValueKind::cast:
        work.push_back(v.a);
        break;
      case ValueKind::binary:
      case ValueKind::pair:
        work.push_back(v.a);
        work.push_back(v.b);
        break;
      case ValueKind::object: {
        const ObjectId object{v.number};
        if (object.kind() == ObjectKind::heap) state.give(next);
        if (object.kind() == ObjectKind::global) take_from(next);
        if (object.kind() == ObjectKind::var && body_.vars[object.index()].simple) {
          work.push_back(state.vars[object.index()]);
        }
        break;
      }
      case ValueKind::param:
      case ValueKind::cell:
      case ValueKind::reach:
        touch_input(next);
        // Any element of a global array: it may be the one with the followed block.
        if (values_[values_[next].a].kind == ValueKind::index && is_in_global(state) &&
            global_of(next) == state.parked) {
          state.fate = Fate::escaped;
        }
        // What is below an input that goes away, goes with it.
        if (mode_ == Mode::input && state.fate == Fate::live) {
          ValueId up = focus_;
          while (values_[up].kind == ValueKind::cell || values_[up].kind == ValueKind::pointer) {
            up = values_[up].a;
            if (up == next) state.fate = Fate::escaped;
          }
        }
        break;
      default:
        break;
    }
  }
}

// The library has written characters there, from here on and not beyond the buffer: it may
// be a member, and the members before it and the pointers behind it are what they were.
void FunctionRun::overwrite(State& state, ValueId value) {
  const auto [base, offset] = values_.place(value);
  const Value v = values_[base];
  const bool is_object = v.kind == ValueKind::object;
  if (is_object && ObjectId{v.number}.kind() == ObjectKind::var &&
      body_.vars[ObjectId{v.number}.index()].simple) {
    havoc(state, value);
    return;
  }
  if (v.kind == ValueKind::integer) return;
  std::erase_if(state.cells, [&, from = offset, at = base](const Cell& cell) {
    return cell.base == at && cell.offset >= from && !values_.is_heap(values_.target(cell.value));
  });
  state.set_cell(base, kRest, 0, values_.fresh());
  if (v.kind == ValueKind::index && v.number == 1) {
    state.set_cell(base, offset, 1, values_.fresh());
    blur_text(state, base);
  }
}

// Unknown code may have written there.
// Unknown code writes to what the pointer leads to, and does not keep the pointer: what
// stands there and behind it may be freed or moved, what stands before it does not change.
// (A member's constructor leaves those of the members before it alone.)
void FunctionRun::rewrite(State& state, ValueId value) {
  const auto [base, offset] = values_.place(value);
  const Value& v = values_[base];
  if (offset <= 0 || v.kind == ValueKind::integer || v.kind == ValueKind::element) {
    std::vector<ValueId> held;
    for (const Cell& cell : state.cells) {
      if (cell.base == base) held.push_back(cell.value);
    }
    escape(state, held);
    havoc(state, value);
    return;
  }
  std::vector<ValueId> held;
  std::erase_if(state.cells, [&](const Cell& cell) {
    const bool behind = cell.base == base && cell.width != 0 && cell.offset >= offset;
    if (behind) held.push_back(cell.value);
    return behind;
  });
  escape(state, held);
  state.set_cell(base, kRest, 0, values_.fresh());
  forget_counts_at(state, base);
}

// Somebody may change it, and keep or free what hangs on it; itself it stays.
void FunctionRun::change(State& state, ValueId value) {
  const ValueId base = values_.place(value).base;
  if (!is_focus(value)) {
    if (leads_to_focus(state, value)) escape(state, focus_);
    for (ValueId up = focus_; mode_ == Mode::input; up = values_[up].a) {
      const ValueKind kind = values_[up].kind;
      if (kind != ValueKind::cell && kind != ValueKind::pointer) break;
      if (values_[up].a == base) escape(state, focus_);
    }
  }
  take_where_held(state, value);
  if (values_[values_.root(base)].kind == ValueKind::param) escape(state, values_.reach(base));
  rewrite(state, value);
}

void FunctionRun::havoc(State& state, ValueId value) {
  const ValueId base = values_.place(value).base;
  const Value v = values_[base];
  if (v.kind == ValueKind::integer) return;
  if (v.kind == ValueKind::object && ObjectId{v.number}.kind() == ObjectKind::var &&
      body_.vars[ObjectId{v.number}.index()].simple) {
    state.vars[ObjectId{v.number}.index()] = values_.fresh();
    return;
  }
  state.drop_cells_of(base);
  state.set_cell(base, kRest, 0, values_.fresh());
  forget_counts_at(state, base);
}

}  // namespace plumb::check
