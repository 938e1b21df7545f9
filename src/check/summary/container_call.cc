// Containers of pointers, on symbolic values.
//
// All elements of a container are one place, `element (c, first)`, which holds the
// followed block once it has been put in; what else is put in does not push it out.
// What is read out of the place is then the followed block: the analysis is optimistic,
// a loop that frees elements frees it, and one that frees some of them does, too. A loop
// from the first element to the end runs when the block is in. The elements go when the
// container is emptied or ends; that is where they are lost. How many there are is a place,
// too, element (c, count): between two changes it is the same number, and what is looked up
// while the followed block is in is found.
//
// Limits: what else the container holds is forgotten where it does not lead to the
// followed block; an element that is erased stays.
#include "check/summary/function_run.h"

#include <algorithm>
#include <utility>

namespace plumb::check {

namespace {

constexpr std::uint32_t kWord = 8;

}  // namespace

const Cell* FunctionRun::content(const State& state, ValueId container) {
  return state.find_cell(values_.place(values_.element(container, Elements::first)).base, 0);
}

bool FunctionRun::holds_followed(const State& state, ValueId container) {
  if (mode_ == Mode::plain || state.fate != Fate::live) return false;
  const Cell* cell = content(state, container);
  return cell && (is_focus(cell->value) || leads_to_focus(state, cell->value));
}

ValueId FunctionRun::load_element(const State& state, ValueId place, std::uint32_t width) {
  if (const Cell* cell = state.find_cell(place, 0)) {
    return width == kWord ? cell->value : values_.fresh();
  }
  // A container of this function's own that nothing was put in, as far as is known.
  if (width != kWord || !is_outside(place)) return values_.fresh();
  return values_.cell(place, 0, kWord);
}

void FunctionRun::store_element(State& state, ValueId place, ValueId value) {
  if (values_[place].number == static_cast<std::int64_t>(Elements::count)) {
    state.set_cell(place, 0, kWord, value);
    return;
  }
  if (values_.is_integer(value)) return;
  const Cell* old = state.find_cell(place, 0);
  if (old && old->value != value && mode_ != Mode::plain && state.fate == Fate::live) {
    const auto leads = [&](ValueId each) { return is_focus(each) || leads_to_focus(state, each); };
    if (leads(old->value)) {
      // In by two ways: which of them goes first is not known.
      if (!is_focus(old->value) && leads(value)) state.fate = Fate::escaped;
      return;
    }
  }
  state.set_cell(place, 0, kWord, value);
}

// What an object that is passed by reference holds goes in: a pointer, a pair with one.
void FunctionRun::take_elements(State& state, ValueId container, ValueId from) {
  if (values_.is_integer(from)) return;
  const auto [base, offset] = values_.place(from);
  std::vector<ValueId> found;
  for (const Cell& cell : state.cells) {
    const bool inside = cell.base == base && cell.offset >= offset && cell.width == kWord;
    if (inside && !values_.is_integer(cell.value)) found.push_back(cell.value);
  }
  const Value& v = values_[base];
  const bool is_simple = v.kind == ValueKind::object &&
                         ObjectId{v.number}.kind() == ObjectKind::var &&
                         body_.vars[ObjectId{v.number}.index()].simple;
  if (found.empty() && (is_simple || is_outside(base))) found.push_back(load(state, from, kWord));
  const ValueId to = values_.element(container, Elements::any);
  for (const ValueId each : found) store(state, to, kWord, each);
}

void FunctionRun::give_up_elements(State& state, ValueId container) {
  if (const Cell* cell = content(state, container)) escape(state, cell->value);
  touch_input(load(state, values_.element(container, Elements::first), kWord));
}

// Two iterators are compared: 0 when one is the first, or was looked up, and the other the
// end of a container that has the followed block; when nothing is in, the first is the end.
int FunctionRun::is_loop_over(const State& state, ValueId a, ValueId b) {
  Value x = values_[a];
  Value y = values_[b];
  if (x.kind != ValueKind::element || y.kind != ValueKind::element || x.a != y.a) return -1;
  constexpr auto kEnd = static_cast<std::int64_t>(Elements::end);
  if (x.number == kEnd) std::swap(x, y);
  if (y.number != kEnd || x.number == kEnd) return -1;
  if (holds_followed(state, x.a)) return 0;
  if (x.number != static_cast<std::int64_t>(Elements::first)) return -1;
  const Cell* count = state.find_cell(values_.element(x.a, Elements::count), 0);
  if (!count) return -1;
  const Fact known = state.fact(values_, count->value);
  return known.nonzero || known.low > 0 ? 0 : known.low == 0 && known.high == 0 ? 1 : -1;
}

// The number of elements: the same until some come or go.
ValueId FunctionRun::count_of(State& state, ValueId container) {
  const ValueId count = load(state, values_.element(container, Elements::count), kWord);
  if (values_.is_integer(count)) return count;
  (void)state.learn(values_, count, {holds_followed(state, container) ? 1 : 0, INT64_MAX, false});
  return count;
}

void FunctionRun::forget_count(State& state, ValueId container) {
  store(state, values_.element(container, Elements::count), kWord, values_.fresh());
}

// Code that is not seen had its hands on what stands at `base`: the containers there.
void FunctionRun::forget_counts_at(State& state, ValueId base) {
  if (!values_.has_elements(values_.target(base))) return;
  for (Cell& cell : state.cells) {
    const Value& v = values_[cell.base];
    const bool counts =
        v.kind == ValueKind::element && v.number == static_cast<std::int64_t>(Elements::count);
    if (counts && values_.target(v.a) == values_.target(base)) cell.value = values_.fresh();
  }
}

void FunctionRun::call_container(State state, std::uint32_t index, ContainerEffect effect,
                                 const std::vector<ValueId>& arguments, std::vector<State>& after) {
  const Operation& o = body_.operations[index];
  if (arguments.empty()) {
    after.push_back(std::move(state));
    return;
  }
  // An iterator of several words comes back by way of memory.
  const bool by_memory = o.width == 0 && arguments.size() > 1 &&
                         (effect == ContainerEffect::begins ||
                          effect == ContainerEffect::finishes || effect == ContainerEffect::gives ||
                          effect == ContainerEffect::finds || effect == ContainerEffect::removes);
  const ValueId container = arguments[by_memory ? 1 : 0];
  const ValueId first = values_.element(container, Elements::first);
  const LastHolder holder = held_by_argument(state, o, arguments);
  const auto drop = [&](ValueId of) {
    const ValueId place = values_.place(values_.element(of, Elements::first)).base;
    std::erase_if(state.cells, [&](const Cell& cell) { return cell.base == place; });
    forget_count(state, of);
  };
  ValueId result = kNoValue;
  LossKind loss = LossKind::overwritten;
  switch (effect) {
    case ContainerEffect::starts:
      drop(container);
      break;
    case ContainerEffect::takes:
      for (std::size_t i = 1; i < arguments.size(); ++i) {
        take_elements(state, container, arguments[i]);
      }
      forget_count(state, container);
      result = values_.element(container, Elements::any);
      break;
    case ContainerEffect::copies:
    case ContainerEffect::moves: {
      const ValueId from = arguments.size() > 1 ? arguments[1] : container;
      if (from == container) break;
      const ValueId held = load(state, values_.element(from, Elements::first), kWord);
      drop(container);
      store(state, first, kWord, held);
      if (effect == ContainerEffect::moves) drop(from);
      result = container;
      break;
    }
    case ContainerEffect::swaps: {
      if (arguments.size() < 2) break;
      const ValueId other = values_.element(arguments[1], Elements::first);
      const ValueId mine = load(state, first, kWord);
      const ValueId theirs = load(state, other, kWord);
      drop(container);
      drop(arguments[1]);
      store(state, first, kWord, theirs);
      store(state, other, kWord, mine);
      break;
    }
    case ContainerEffect::adds:
    case ContainerEffect::removes:
      forget_count(state, container);
      result = values_.element(container, Elements::any);
      break;
    case ContainerEffect::gives:
      result = values_.element(container, Elements::any);
      break;
    case ContainerEffect::finds:
      result = values_.found_element(container);
      break;
    case ContainerEffect::begins:
      result = first;
      break;
    case ContainerEffect::finishes:
      result = values_.element(container, Elements::end);
      break;
    case ContainerEffect::steps: {
      const ValueId old = load(state, container, kWord);
      const bool known = values_[old].kind == ValueKind::element;
      store(state, container, kWord, known ? values_.pointer(old, kWord) : values_.fresh());
      result = arguments.size() > 1 ? old : container;
      break;
    }
    case ContainerEffect::counts:
      result = count_of(state, container);
      break;
    case ContainerEffect::asks_empty:
      result = holds_followed(state, container)
                   ? values_.integer(0)
                   : values_.compare(Code::eq, count_of(state, container), values_.integer(0), 1);
      break;
    case ContainerEffect::empties:
    case ContainerEffect::ends:
      drop(container);
      loss = LossKind::holder_freed;
      break;
    case ContainerEffect::unknown:
      for (const ValueId argument : arguments) {
        give_up_elements(state, argument);
        escape(state, argument);
        forget_count(state, argument);
      }
      break;
    case ContainerEffect::none:
    case ContainerEffect::nothing:
      break;
  }
  if (by_memory && result != kNoValue) {
    store(state, arguments[0], kWord, result);
  } else if (o.width) {
    if (result == kNoValue) result = values_.fresh();
    // An iterator and whether it is new.
    if (o.width > kWord) result = values_.pair(result, values_.fresh());
    state.set_result(index, result);
  }
  last_holder_ = holder;
  check_lost(state, index, loss);
  after.push_back(std::move(state));
}

}  // namespace plumb::check
