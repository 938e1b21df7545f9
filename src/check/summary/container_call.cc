// Containers of pointers, on symbolic values.
//
// All elements of a container are one place, `element (c, first)`, which holds the
// followed block once it has been put in; what else is put in does not push it out.
// What is read out of the place is then the followed block: the analysis is optimistic,
// a loop that frees elements frees it, and one that frees some of them does, too. A loop
// from the first element to the end runs when the block is in. The elements go when the
// container is emptied or ends; that is where they are lost.
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

// Two iterators are compared: 0 when they are the first and the end of a container that
// has the followed block, else -1.
int FunctionRun::is_loop_over(const State& state, ValueId a, ValueId b) {
  const Value& x = values_[a];
  const Value& y = values_[b];
  if (x.kind != ValueKind::element || y.kind != ValueKind::element || x.a != y.a) return -1;
  return x.number != y.number && holds_followed(state, x.a) ? 0 : -1;
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
                          effect == ContainerEffect::finishes || effect == ContainerEffect::gives);
  const ValueId container = arguments[by_memory ? 1 : 0];
  const ValueId first = values_.element(container, Elements::first);
  const LastHolder holder = held_by_argument(state, o, arguments);
  const auto drop = [&](ValueId of) {
    const ValueId place = values_.place(values_.element(of, Elements::first)).base;
    std::erase_if(state.cells, [&](const Cell& cell) { return cell.base == place; });
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
    case ContainerEffect::gives:
      result = values_.element(container, Elements::any);
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
      result = values_.fresh();
      (void)state.learn(values_, result,
                        {holds_followed(state, container) ? 1 : 0, INT64_MAX, false});
      break;
    case ContainerEffect::asks_empty:
      result = holds_followed(state, container) ? values_.integer(0) : values_.fresh();
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
