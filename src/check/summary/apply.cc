#include "check/summary/function_run.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace plumb::check {

// Values of a summary as values of the caller, at one call. Made on demand: most
// of a summary's values do not matter at most calls.
class FunctionRun::Instance {
 public:
  Instance(FunctionRun& run, State& state, std::uint32_t index, FunctionId callee,
           const std::vector<ValueId>& arguments, bool makes_focus)
      : run_(run),
        state_(state),
        index_(index),
        callee_(callee),
        arguments_(arguments),
        makes_focus_(makes_focus),
        values_(run.known_.find(callee)->values),
        map_(values_.size(), kNoValue) {
    const ProgramView::Signature target = run.program_.signature(callee);
    if (target.variadic) named_ = target.params;
  }

  ValueId operator()(ValueId id) {
    if (id == kNoValue) return kNoValue;
    if (map_[id.index] != kNoValue) return map_[id.index];
    const ValueId made = make(values_[id]);
    map_[id.index] = made;
    return made;
  }

 private:
  ValueId make(const Value& v) {
    Values& out = run_.values_;
    switch (v.kind) {
      case ValueKind::integer:
        return out.integer(v.number);
      case ValueKind::param: {
        const auto number = static_cast<std::size_t>(v.number);
        const bool has_name = number < named_ && number < arguments_.size();
        return has_name ? arguments_[number] : out.fresh();
      }
      case ValueKind::object: {
        const ObjectId object{v.number};
        if (object.kind() != ObjectKind::heap) return out.object(object);
        if (object.index() == 0 && makes_focus_) return run_.focus_;
        const ValueId block = run_.block_from({index_, callee_.index, object.index()});
        run_.renew(state_, block);
        run_.forget_failure(state_, block);
        return block;
      }
      case ValueKind::cell: {
        const ValueId base = (*this)(v.a);
        return run_.load(state_, out.pointer(base, v.number), v.width);
      }
      case ValueKind::pointer:
        return out.pointer((*this)(v.a), v.number);
      case ValueKind::index: {
        const ValueId a = (*this)(v.a);
        return out.index(a, (*this)(v.b), v.number);
      }
      case ValueKind::binary: {
        const ValueId a = (*this)(v.a);
        return out.binary(v.code, a, (*this)(v.b), v.width);
      }
      case ValueKind::compare: {
        const ValueId a = (*this)(v.a);
        return out.compare(v.code, a, (*this)(v.b), v.width);
      }
      case ValueKind::cast:
        return out.cast(v.code, (*this)(v.a), v.width);
      case ValueKind::reach:
        return out.reach((*this)(v.a));
      case ValueKind::pair: {
        const ValueId a = (*this)(v.a);
        return out.pair(a, (*this)(v.b));
      }
      case ValueKind::element:
        return out.element((*this)(v.a), static_cast<Elements>(v.number));
      case ValueKind::fresh:
      case ValueKind::merge:
      case ValueKind::none:
        break;
    }
    return out.fresh();
  }

  FunctionRun& run_;
  State& state_;
  std::uint32_t index_;
  FunctionId callee_;
  const std::vector<ValueId>& arguments_;
  bool makes_focus_;
  std::size_t named_ = SIZE_MAX;  // variadic: parameters that stand for one argument each
  const Values& values_;
  std::vector<ValueId> map_;
};

namespace {

// Does a variadic function do more with the arguments that have no name than look at
// them? They are one parameter, behind the others.
bool touches_rest(const Summary& summary, std::uint32_t named) {
  const auto is_rest = [&](ValueId value) {
    if (value == kNoValue) return false;
    const Value& root = summary.values[summary.values.root(value)];
    return root.kind == ValueKind::param && root.number >= named;
  };
  return is_rest(summary.effect.result) ||
         std::ranges::any_of(summary.inputs,
                             [&](const Input& each) { return is_rest(each.value); }) ||
         std::ranges::any_of(summary.effect.writes, [&](const Cell& each) {
           return is_rest(each.base) || is_rest(each.value);
         });
}

}  // namespace

ValueId FunctionRun::in_caller(Instance& at_call, ValueId value) { return at_call(value); }

void FunctionRun::apply(State state, std::uint32_t index, FunctionId callee,
                        const std::vector<ValueId>& arguments, std::vector<State>& after) {
  // A container never gives away the object that it is a part of, whatever it does to what
  // it holds: of a map or a short text, that leads back into the object.
  const bool is_part = mode_ != Mode::plain && state.fate == Fate::live && !arguments.empty() &&
                       is_focus(arguments[0]) && is_member_of_container(program_.name(callee));
  const std::size_t before = after.size();
  applying_ = true;
  apply_summary(std::move(state), index, callee, arguments, is_part, after);
  applying_ = false;
  for (std::size_t i = before; is_part && i < after.size(); ++i) {
    if (after[i].fate == Fate::escaped) after[i].fate = Fate::live;
  }
}

void FunctionRun::apply_summary(State state, std::uint32_t index, FunctionId callee,
                                const std::vector<ValueId>& arguments, bool is_part,
                                std::vector<State>& after) {
  const Summary& summary = *known_.find(callee);
  if (mode_ == Mode::plain) {
    for (std::uint32_t i = 0; i < summary.blocks.size(); ++i) {
      note_site(Site{index, callee.index, i}, state);
    }
    if (!std::ranges::includes(summary_.may_take, summary.may_take)) {
      std::vector<std::uint32_t> taken;
      std::ranges::set_union(summary_.may_take, summary.may_take, std::back_inserter(taken));
      summary_.may_take = std::move(taken);
    }
  }
  if (mode_ == Mode::site && starting_) {
    // In a cycle of calls, what the callee handed out in an earlier round and then no more.
    if (site_.inner >= summary.blocks.size()) return;
    family_ = summary.blocks[site_.inner].family;
    for (const Case& each : summary.blocks[site_.inner].cases) {
      State probe = state;
      Instance at_call(*this, probe, index, callee, arguments, true);
      if (presumes_alone(probe, summary, summary.blocks[site_.inner], each, at_call)) continue;
      apply_case(state, index, callee, arguments, &each, nullptr, true, after);
    }
    return;
  }
  if (mode_ != Mode::plain && state.fate == Fate::live && !summary.inputs.empty() && !is_part) {
    // Which of the inputs that the callee touches is the followed block?
    State probe = state;
    Instance at_call(*this, probe, index, callee, arguments, false);
    const auto concerns = [&](const Input& input) {
      const ValueId given = at_call(input.value);
      if (is_focus(given)) return true;
      if (summary.values[input.value].kind != ValueKind::reach) return false;
      if (is_below(summary, input.value, at_call)) return false;
      // Anything below the argument: is it there?
      const Value& all = values_[given];
      return leads_to_focus(probe, all.kind == ValueKind::reach ? all.a : given);
    };
    // A place that has a name says more than anything that can be reached.
    for (const bool by_reach : {false, true}) {
      for (const Input& input : summary.inputs) {
        const bool is_reach = summary.values[input.value].kind == ValueKind::reach;
        if (is_reach != by_reach || !concerns(input)) continue;
        for (const Case& each : input.cases) {
          if (relies_on_keeping(input, each, index)) continue;
          apply_case(state, index, callee, arguments, &each, &input, false, after);
        }
        return;
      }
    }
  }
  if (mode_ == Mode::site && state.fate == Fate::live && !starting_) {
    State probe = state;
    Instance at_call(*this, probe, index, callee, arguments, false);
    if (const Input* input = refused_holder(probe, summary, at_call)) {
      for (const Case& each : input->cases) {
        if (each.fate != Fate::live || each.parked != kNotParked) continue;
        if (relies_on_keeping(*input, each, index)) continue;
        apply_case(state, index, callee, arguments, &each, input, false, after);
      }
      return;
    }
  }
  if (follows_freed(state)) free_again(state, index, callee, arguments);
  apply_case(std::move(state), index, callee, arguments, nullptr, nullptr, false, after);
}

// Is it what hangs on the followed block, which is an argument of the call? What becomes of an
// argument itself is known apart; when nothing does, it is not listed.
bool FunctionRun::is_below(const Summary& summary, ValueId value, Instance& at_call) const {
  const Value& v = summary.values[value];
  return v.kind == ValueKind::reach && summary.values[v.a].kind == ValueKind::param &&
         is_focus(at_call(v.a));
}

// The callee keeps what it is given or, as it says, does not, and a block that the followed
// one hangs on is given to it: an entry that is put in a table. Where it is kept the followed
// one is out of sight with it; so the cases in which it is not are all that matter. Not when
// another argument takes it in any case, or it may be freed.
const Input* FunctionRun::refused_holder(State& state, const Summary& summary,
                                         Instance& at_call) const {
  const Input* out = nullptr;
  for (const Input& input : summary.inputs) {
    const ValueId given = at_call(input.value);
    const ValueId holder = values_.target(given);
    if (summary.values[input.value].kind == ValueKind::reach) {
      if (leads_to_focus(state, given)) return nullptr;
      continue;
    }
    if (!values_.is_heap(holder) || !leads_to_focus(state, holder)) continue;
    bool kept = false;
    bool refused = false;
    for (const Case& each : input.cases) {
      const bool takes = each.fate == Fate::escaped || each.parked != kNotParked;
      if (!takes && (each.fate != Fate::live || !each.in_place)) return nullptr;
      kept = kept || takes || !each.holders.empty();
      refused = refused || (!takes && each.holders.empty());
    }
    if (!kept) continue;
    if (!refused) return nullptr;
    out = &input;
  }
  return out;
}

// The followed block is freed already: may the callee free it?
void FunctionRun::free_again(const State& state, std::uint32_t index, FunctionId callee,
                             const std::vector<ValueId>& arguments) {
  const Summary& summary = *known_.find(callee);
  for (const Input& input : summary.inputs) {
    if (summary.values[input.value].kind == ValueKind::reach) continue;
    State probe = state;
    Instance at_call(*this, probe, index, callee, arguments, false);
    if (!is_focus(at_call(input.value))) continue;
    for (const Case& each : input.cases) {
      if (each.fate != Fate::freed || each.throws) continue;
      State then = probe;
      const bool holds = std::ranges::all_of(each.guards, [&](const Guard& guard) {
        return assume_fact(then, at_call(guard.value), guard.fact);
      });
      if (!holds || (!each.ways.empty() && !choose_way(then, summary, each, nullptr, at_call))) {
        continue;
      }
      report_freed(then, index, LossKind::freed_twice, each.freed_by);
      return;
    }
  }
}

// A set keeps what it is given unless it has it: by what is in it, not by anything that
// the caller could see. One that does not look at the result relies on its being kept.
bool FunctionRun::relies_on_keeping(const Input& input, const Case& taken,
                                    std::uint32_t index) const {
  if (taken.fate != Fate::live || !taken.in_place || taken.throws || !taken.holders.empty() ||
      !taken.guards.empty() || !taken.ways.empty() || !shape_.ignored[index]) {
    return false;
  }
  return std::ranges::any_of(input.cases, [](const Case& each) {
    return (each.fate == Fate::escaped || each.parked != kNotParked) && !each.throws;
  });
}

namespace {

// Does the value say something of a field of the object at `base`, other than the
// one at `offset`?
bool tells_of_sibling(const Values& values, ValueId id, ValueId base, std::int64_t offset) {
  const Value& v = values[id];
  switch (v.kind) {
    case ValueKind::cell:
      return v.a == base && v.number != offset;
    case ValueKind::cast:
      return tells_of_sibling(values, v.a, base, offset);
    case ValueKind::binary:
    case ValueKind::compare:
      return tells_of_sibling(values, v.a, base, offset) ||
             tells_of_sibling(values, v.b, base, offset);
    default:
      return false;
  }
}

// Does the value say something of numbers that are passed, and of nothing else?
bool is_of_arguments(const Values& values, ValueId id) {
  const Value& v = values[id];
  switch (v.kind) {
    case ValueKind::param:
    case ValueKind::integer:
      return true;
    case ValueKind::cast:
      return is_of_arguments(values, v.a);
    case ValueKind::binary:
    case ValueKind::compare:
      return is_of_arguments(values, v.a) && is_of_arguments(values, v.b);
    default:
      return false;
  }
}

// Does the value depend on single bits of the address `input`?
bool tells_of_bits(const Values& values, ValueId id, ValueId input, bool in_bits) {
  if (id == input) return in_bits;
  const Value& v = values[id];
  switch (v.kind) {
    case ValueKind::cast:
      return tells_of_bits(values, v.a, input, in_bits);
    case ValueKind::compare:
      return tells_of_bits(values, v.a, input, in_bits) ||
             tells_of_bits(values, v.b, input, in_bits);
    case ValueKind::binary:
      in_bits = in_bits || v.code == Code::bit_and;
      return tells_of_bits(values, v.a, input, in_bits) ||
             tells_of_bits(values, v.b, input, in_bits);
    default:
      return false;
  }
}

}  // namespace

// A field beside the followed block decides whether the callee frees it: a length,
// a flag. When the caller does not know the field, to assume the value with which
// the block is not freed would be to assume that the object contradicts itself.
bool FunctionRun::presumes_disowned(const State& state, const Summary& summary, const Case& taken,
                                    const Input& input, const std::vector<Guard>& guards,
                                    Instance& at_call) {
  if (taken.fate != Fate::live) return false;
  const bool lost = !taken.in_place && taken.holders.empty();
  const bool freed_else = std::any_of(input.cases.begin(), input.cases.end(),
                                      [](const Case& c) { return c.fate != Fate::live; });
  if (!lost && !freed_else) return false;
  // A tag in the address says who owns: that of a block says that it is to be freed.
  if (freed_else && std::any_of(guards.begin(), guards.end(), [&](const Guard& guard) {
        return tells_of_bits(summary.values, guard.value, input.value, false);
      })) {
    return true;
  }
  const Value& place = summary.values[input.value];
  if (place.kind != ValueKind::cell) return false;
  return std::any_of(guards.begin(), guards.end(), [&](const Guard& guard) {
    if (!tells_of_sibling(summary.values, guard.value, place.a, place.number)) return false;
    const ValueId value = at_call(guard.value);
    if (summary.values[guard.value].kind == ValueKind::compare) {
      return decide(state, value) < 0;
    }
    const Fact known = state.fact(values_, value);
    const bool implied = known.low >= guard.fact.low && known.high <= guard.fact.high &&
                         (!guard.fact.nonzero || is_nonzero(state, value));
    return !implied;
  });
}

// Which of the ways of a case can be at this call? False: none. When it is one, what
// it says is known from here on.
bool FunctionRun::choose_way(State& state, const Summary& summary, const Case& taken,
                             const Input* input, Instance& at_call) {
  for (const GuardSet& way : taken.ways) {
    for (const Guard& guard : way.guards) (void)at_call(guard.value);  // may look into memory
  }
  std::optional<State> only;
  unsigned possible = 0;
  bool presumed = true;
  for (const GuardSet& way : taken.ways) {
    State probe = state;
    const bool holds = std::ranges::all_of(way.guards, [&](const Guard& guard) {
      return assume_fact(probe, at_call(guard.value), guard.fact);
    });
    if (!holds) continue;
    presumed =
        presumed && input && presumes_disowned(state, summary, taken, *input, way.guards, at_call);
    if (++possible == 1) only = std::move(probe);
  }
  if (possible == 0 || presumed) return false;
  if (possible == 1) state = std::move(*only);
  return true;
}

namespace {

Fact result_fact_of(const Summary& summary, const Case& each) {
  if (each.result == kNoValue || !summary.values.is_integer(each.result)) return each.result_fact;
  const std::int64_t number = summary.values[each.result].number;
  return {number, number, number != 0};
}

}  // namespace

namespace {

// Is it by a null, as a number or as the answer to a comparison, that the condition holds?
bool says_null(const Values& values, const Guard& guard) {
  const Value& v = values[guard.value];
  const bool zero = guard.fact.low == 0 && guard.fact.high == 0;
  if (v.kind != ValueKind::compare) return zero;
  return values.is_zero(v.b) &&
         ((v.code == Code::eq && guard.fact.nonzero) || (v.code == Code::ne && zero));
}

// What is passed, or is in what is passed.
bool is_given(const Values& values, ValueId input) {
  const Value& v = values[input];
  return v.kind == ValueKind::param ||
         (v.kind == ValueKind::cell && values[v.a].kind == ValueKind::param);
}

// Is it by the null of a pointer, and no number, through which the function goes elsewhere?
bool says_null_pointer(const Values& values, const Guard& guard) {
  if (!says_null(values, guard)) return false;
  const Value& v = values[guard.value];
  const ValueId pointer = v.kind == ValueKind::compare ? v.a : guard.value;
  return std::ranges::any_of(values.all(), [&](const Value& each) {
    return each.kind == ValueKind::cell && each.a == pointer;
  });
}

}  // namespace

// A maker that hangs what it makes on an argument, if there is one. A caller of which nothing
// says that there is none knows that there is, or else it would have to keep the result.
bool FunctionRun::presumes_alone(const State& state, const Summary& summary, const NewBlock& block,
                                 const Case& taken, Instance& at_call) const {
  if (taken.fate != Fate::live || taken.throws) return false;
  const auto is_hung = [&](const Case& each, ValueId on) {
    return each.fate == Fate::escaped || std::ranges::any_of(each.holders, [&](const Cell& cell) {
             return summary.values.root(cell.base) == summary.values.root(on);
           });
  };
  return std::ranges::any_of(taken.guards, [&](const Guard& guard) {
    if (!says_null_pointer(summary.values, guard)) return false;
    const Value& v = summary.values[guard.value];
    const ValueId pointer = v.kind == ValueKind::compare ? v.a : guard.value;
    if (summary.values[pointer].kind != ValueKind::param || is_hung(taken, pointer)) return false;
    const bool hangs = std::ranges::any_of(block.cases, [&](const Case& other) {
      const auto same = std::ranges::find(other.guards, guard.value, &Guard::value);
      return !other.throws && is_hung(other, pointer) && same != other.guards.end() &&
             are_apart(same->fact, guard.fact);
    });
    if (!hangs) return false;
    const ValueId given = at_call(pointer);
    const Fact known = state.fact(values_, given);
    return !(known.low == 0 && known.high == 0);
  });
}

// A container that takes blocks and, on some path, silently does not: the key is there
// already, the table was never made. Or a function that frees them, and on some path does
// not: another still has a reference, the object looks damaged. Callers that give the
// block away know that it is taken. Not when the call says so (a status that is looked
// at), when the caller knows the condition or sets it by an argument, or when a
// container looks at the block's own content.
bool FunctionRun::presumes_refused(const State& state, std::uint32_t index, const Summary& summary,
                                   const Case& taken, const Input& input, Instance& at_call) const {
  if (taken.fate != Fate::live || !taken.in_place || taken.throws) return false;
  if (!taken.holders.empty() || !is_given(summary.values, input.value)) return false;
  // Two words that come back can say what no range does.
  if (body_.operations[index].width > sizeof(void*) && !shape_.ignored[index]) return false;
  const Fact refused = result_fact_of(summary, taken);
  const std::vector<std::uint32_t>& dead = shape_.dies_after[index];
  const bool unused = std::ranges::find(dead, index) != dead.end();
  bool keeps = false;
  bool silent = false;
  bool explained = false;  // by something that is there, not by a null
  // What is in an argument has an owner already: only that there is nobody to take it counts.
  const bool inside = summary.values[input.value].kind != ValueKind::param;
  bool nobody = false;
  for (const Case& other : input.cases) {
    if (other.fate == Fate::live && other.holders.empty()) continue;
    if (other.fate != Fate::freed && taken.by_content) return false;
    keeps = true;
    const Fact kept = result_fact_of(summary, other);
    silent = silent || !are_apart(kept, refused);
    for (const Guard& guard : taken.guards) {
      const auto same = std::ranges::find(other.guards, guard.value, &Guard::value);
      if (same == other.guards.end()) continue;
      if (!are_apart(same->fact, guard.fact)) continue;
      const bool no_pointer = says_null_pointer(summary.values, guard);
      const bool other_reason = inside && summary.values[guard.value].kind != ValueKind::compare;
      if (!no_pointer && (other_reason || is_of_arguments(summary.values, guard.value))) {
        return false;
      }
      nobody = nobody || no_pointer;
      explained = explained || !says_null(summary.values, guard);
      const Fact known = state.fact(values_, at_call(guard.value));
      const bool implied = known.low >= guard.fact.low && known.high <= guard.fact.high &&
                           (!guard.fact.nonzero || known.nonzero);
      if (implied) return false;
    }
  }
  return keeps && (!inside || nobody) && (silent || (unused && !explained));
}

// The callee forgets the followed block in one case and frees it in another, with the same
// answer, and nothing that is known of either tells them apart: what did was merged away
// (a walk along a list that ends at a mark, say). That it forgets it is then a guess.
bool FunctionRun::presumes_dropped(const Summary& summary, const Case& taken, const Input& input) {
  if (taken.fate != Fate::live || taken.in_place || !taken.holders.empty() || taken.throws ||
      !taken.ways.empty() ||
      (taken.result != kNoValue && summary.values.target(taken.result) == input.value)) {
    return false;
  }
  return std::ranges::any_of(input.cases, [&](const Case& other) {
    if (other.fate != Fate::freed || other.throws) return false;
    if (are_apart(result_fact_of(summary, other), result_fact_of(summary, taken))) return false;
    return std::ranges::none_of(taken.guards, [&](const Guard& guard) {
      const auto same = std::ranges::find(other.guards, guard.value, &Guard::value);
      return same != other.guards.end() && are_apart(same->fact, guard.fact);
    });
  });
}

// The callee leaves the block alone only when a number has some value, frees it otherwise and
// answers the same; the number comes out of a global of which the caller knows nothing. To
// suppose just that value would be a guess.
bool FunctionRun::presumes_number(const State& state, const Summary& summary, const Case& taken,
                                  const Input& input, Instance& at_call) const {
  if (taken.fate != Fate::live || !taken.in_place || !taken.holders.empty() || taken.throws) {
    return false;
  }
  const bool silent = std::ranges::any_of(input.cases, [&](const Case& other) {
    return other.fate == Fate::freed && !other.throws &&
           !are_apart(result_fact_of(summary, other), result_fact_of(summary, taken));
  });
  return silent && std::ranges::any_of(taken.guards, [&](const Guard& guard) {
           if (!is_of_arguments(summary.values, guard.value)) return false;
           ValueId number = at_call(guard.value);
           while (values_[number].kind == ValueKind::compare ||
                  values_[number].kind == ValueKind::cast) {
             number = values_[number].a;
           }
           return values_[number].kind == ValueKind::cell && global_of(number) != kNotParked &&
                  state.fact(values_, number).trivial();
         });
}

namespace {

// Do arguments alone say that it is this way, and not the other case?
bool is_by_argument(const Values& values, const std::vector<Guard>& guards, const Case& other) {
  return std::ranges::any_of(guards, [&](const Guard& guard) {
    const auto same = std::ranges::find(other.guards, guard.value, &Guard::value);
    return same != other.guards.end() && are_apart(same->fact, guard.fact) &&
           is_of_arguments(values, guard.value);
  });
}

}  // namespace

// A function that gives another block for the one that it is given, as realloc does, and
// null when it cannot (both lengths together are beyond an int, say), leaves the old one
// alone then. Not when an argument says so: to append less than nothing.
bool FunctionRun::fails_as_realloc(const State& state, const Summary& summary, const Case& taken,
                                   const Input& input, Instance& at_call) {
  if (taken.fate != Fate::live || !taken.in_place || !taken.holders.empty() || taken.throws) {
    return false;
  }
  const Fact refused = result_fact_of(summary, taken);
  if (refused.low != 0 || refused.high != 0) return false;
  return std::ranges::any_of(input.cases, [&](const Case& other) {
    if (other.fate != Fate::freed || other.throws || other.result == kNoValue) return false;
    if (!summary.values.is_heap(summary.values.target(other.result))) return false;
    if (taken.ways.empty()) return !is_by_argument(summary.values, taken.guards, other);
    return std::ranges::none_of(taken.ways, [&](const GuardSet& way) {
      if (!is_by_argument(summary.values, way.guards, other)) return false;
      State probe = state;
      return std::ranges::all_of(way.guards, [&](const Guard& guard) {
        return assume_fact(probe, at_call(guard.value), guard.fact);
      });
    });
  });
}

// `taken` is the case of the followed block; null: the call does not concern
// it. `input` is what the callee calls the block that it is given.
void FunctionRun::apply_case(State next, std::uint32_t index, FunctionId callee,
                             const std::vector<ValueId>& arguments, const Case* taken,
                             const Input* input, bool makes_focus, std::vector<State>& after) {
  const Operation& o = body_.operations[index];
  const Summary& summary = *known_.find(callee);
  const ProgramView::Signature target = program_.signature(callee);
  const Effect& effect = summary.effect;
  const LastHolder held = held_by_argument(next, o, arguments);
  if (!makes_focus && is_taken_by(next, callee)) next.fate = Fate::escaped;
  Instance at_call(*this, next, index, callee, arguments, makes_focus);
  next.oom = next.oom || (taken && taken->oom);
  const bool fails = taken && input && o.width != 0 && next.failure == kNoValue &&
                     fails_as_realloc(next, summary, *taken, *input, at_call);
  if (taken) {
    if (input && presumes_disowned(next, summary, *taken, *input, taken->guards, at_call)) return;
    if (input && presumes_refused(next, index, summary, *taken, *input, at_call)) return;
    if (input && presumes_dropped(summary, *taken, *input)) return;
    if (input && presumes_number(next, summary, *taken, *input, at_call)) return;
    for (const Guard& guard : taken->guards) {
      if (!assume_fact(next, at_call(guard.value), guard.fact)) return;
    }
    if (!taken->ways.empty() && !choose_way(next, summary, *taken, input, at_call)) return;
  }
  struct Write {
    ValueId to;
    std::uint32_t width;
    ValueId value;
  };
  // All values are those before the call. Others of the caller's values that the
  // callee frees or keeps:
  std::vector<ValueId> freed;
  std::vector<ValueId> kept;
  if (mode_ == Mode::plain || !taken || makes_focus) {
    for (const Input& touched : summary.inputs) {
      // What the caller knows rules out some of the cases.
      const auto excluded = [&](const Case& c) {
        return mode_ == Mode::site && std::ranges::any_of(c.guards, [&](const Guard& guard) {
                 return are_apart(next.fact(values_, at_call(guard.value)), guard.fact);
               });
      };
      const auto has = [&](Fate fate) {
        return std::any_of(touched.cases.begin(), touched.cases.end(),
                           [&](const Case& c) { return c.fate == fate && !excluded(c); });
      };
      const bool always = has(Fate::freed) && !has(Fate::escaped) && !has(Fate::live);
      const ValueId value = at_call(touched.value);
      const bool parks = std::ranges::any_of(
          touched.cases, [&](const Case& c) { return c.parked != kNotParked && !excluded(c); });
      if (has(Fate::escaped) || parks) kept.push_back(value);
      if (mode_ == Mode::plain && has(Fate::freed)) {
        touch_input(value, false, true);
        take_where_held(next, value, true);
      }
      if (mode_ != Mode::plain && always) freed.push_back(value);
    }
  }
  std::vector<Write> writes;
  for (const Cell& cell : effect.writes) {
    // What can be reached from the followed block is not the block itself: where that goes
    // is known apart.
    const bool below = mode_ != Mode::plain && is_below(summary, cell.value, at_call);
    writes.push_back({values_.pointer(at_call(cell.base), cell.offset), cell.width,
                      below ? values_.fresh() : at_call(cell.value)});
  }
  ValueId result = at_call(taken ? taken->result : effect.result);
  Fact fact = taken ? taken->result_fact : effect.result_fact;
  if (fails) {
    result = values_.fresh();
    fact = {0, 0, false};
    next.failure = result;
    next.tested = false;
  }
  if (o.width && result != kNoValue) {
    promise(result, effect.meanings, at_call);
    narrow(next, effect.meanings, at_call, fact);
  }
  if (taken) {
    for (const std::vector<Cell>* cells : {&taken->beside, &taken->holders}) {
      for (const Cell& cell : *cells) {
        writes.push_back(
            {values_.pointer(at_call(cell.base), cell.offset), cell.width, at_call(cell.value)});
      }
    }
  }
  // What the callee touched beyond what is listed may be anything.
  if (!summary.complete) {
    escape(next, arguments);
  }
  if (target.variadic && o.read_from == 0 && touches_rest(summary, target.params)) {
    const std::size_t named = std::min<std::size_t>(target.params, arguments.size());
    escape(next, std::span(arguments).subspan(named));
  }
  // Not when the call does something else to the followed block in this case.
  if (!taken || makes_focus) {
    for (const Move& each : effect.moves) {
      const ValueId from = at_call(each.from);
      const ValueId to = at_call(each.to);
      if (!is_focus(from)) move(next, from, to);
    }
  }
  // The input's own place, if it stays there.
  std::vector<Cell> own;
  if (taken && taken->in_place && input) {
    const Value& place = summary.values[input->value];
    if (place.kind == ValueKind::cell) {
      const auto [base, offset] = values_.place(values_.pointer(at_call(place.a), place.number));
      own.push_back({base, offset, place.width, at_call(input->value)});
    }
    for (const Cell& cell : next.cells) {
      if (is_focus(cell.value)) own.push_back(cell);
    }
  }
  const auto unclear = [&](ValueId value) {
    const ValueKind kind = values_[values_.target(value)].kind;
    return kind == ValueKind::fresh || kind == ValueKind::merge || kind == ValueKind::reach;
  };
  // What had the followed block was freed, and only it.
  if (taken && input && !taken->in_place && taken->fate == Fate::live && !makes_focus) {
    const Value& place = summary.values[input->value];
    if (place.kind == ValueKind::cell) {
      const auto [base, offset] = values_.place(values_.pointer(at_call(place.a), place.number));
      if (const Cell* held = next.find_cell(base, offset); held && is_focus(held->value)) {
        std::erase_if(next.cells, [&, from = base, at_offset = offset](const Cell& cell) {
          return cell.base == from && cell.offset == at_offset;
        });
      }
    }
  }
  for (const Write& write : writes) {
    // Overwritten on some of the callee's paths only, nobody knows which.
    if (mode_ == Mode::site && next.fate == Fate::live && !taken && unclear(write.value)) {
      const auto [base, offset] = values_.place(write.to);
      const Cell* old = next.find_cell(base, offset);
      // (A list that is empty points to itself.)
      if (old && values_.is_heap(values_.target(old->value)) &&
          values_.target(old->value) != values_.target(base)) {
        escape(next, old->value);
      }
    }
    store(next, write.to, write.width, write.value);
  }
  for (const Cell& cell : own) next.set_cell(cell.base, cell.offset, cell.width, cell.value);

  if (makes_focus) {
    next.fate = taken->fate;
    next.freed_at = taken->fate == Fate::freed ? index : kNotFreed;
    next.freed_by = taken->freed_by;
    next.parked = taken->parked;
    // The callee was given the address of a global and put the block there.
    const auto in_global = std::ranges::find_if(next.cells, [&](const Cell& cell) {
      return is_focus(cell.value) && global_of(cell.base) != kNotParked;
    });
    if (next.parked == kNotParked && in_global != next.cells.end()) {
      park(next, global_of(in_global->base));
    }
    // The callee put it where we would lose sight of it if we had stored it there.
    const bool foreign = std::ranges::any_of(taken->holders, [&](const Cell& cell) {
      return is_foreign(values_.place(at_call(cell.base)).base);
    });
    if (foreign && next.fate == Fate::live) next.fate = Fate::escaped;
  }
  if (taken && taken->fate != Fate::live && next.fate == Fate::live && !makes_focus) {
    next.fate = taken->fate;
    if (taken->fate == Fate::freed) freed_by_callee(next, index, *taken);
    if (taken->parked != kNotParked) park(next, taken->parked);
  }
  if (!kept.empty()) escape(next, kept);
  for (const ValueId value : freed) free_value(next, value);
  if (taken && taken->throws) {
    raise(std::move(next), index);
    return;
  }
  if (!taken && effect.throws) raise(next, index);
  if (!taken && !effect.returns) return;
  if (o.width) {
    if (result == kNoValue) result = values_.fresh();
    if (!fact.trivial() && !assume_fact(next, result, fact)) return;
    next.set_result(index, result);
  }
  if (taken) next.trail = extend(next.trail, index, -1);
  last_holder_ = held;
  const bool frees_holder =
      std::any_of(summary.inputs.begin(), summary.inputs.end(), [](const Input& each) {
        return std::any_of(each.cases.begin(), each.cases.end(),
                           [](const Case& c) { return c.fate == Fate::freed; });
      });
  if (mode_ == Mode::site && next.fate == Fate::live && !makes_focus) {
    check_lost(next, index, frees_holder ? LossKind::holder_freed : LossKind::overwritten);
  }
  after.push_back(std::move(next));
}

}  // namespace plumb::check
