// Cases of a callee that a call does not follow: those that would have the program contradict
// itself, or that rest on a guess about something that is not seen.
#include <algorithm>
#include <optional>

#include "check/summary/instance.h"

namespace plumb::check {

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

// Does one of the ways hold, whatever is not known?
bool FunctionRun::is_certain(const State& state, const std::vector<GuardSet>& ways,
                             Instance& at_call) {
  return std::ranges::any_of(ways, [&](const GuardSet& way) {
    return std::ranges::all_of(way.guards, [&](const Guard& guard) {
      const ValueId asked = at_call(guard.value);
      const int answer = values_[asked].kind == ValueKind::compare ? decide(state, asked) : -1;
      const Fact known =
          answer < 0 ? state.fact(values_, asked) : Fact{answer, answer, answer != 0};
      return implies(known, guard.fact);
    });
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
      if (implies(state.fact(values_, at_call(guard.value)), guard.fact)) return false;
    }
  }
  return keeps && (!inside || nobody) && (silent || (unused && !explained));
}

// An exception for an index that is not in the object, or a state that it is not in: a number
// that is passed is compared with a field of it. Callers that do not ask know that it is.
// (A limit that is a constant is looked at as any condition.)
bool FunctionRun::presumes_outside(const State& state, const Summary& summary,
                                   const std::vector<Guard>& guards, Instance& at_call) {
  const Values& values = summary.values;
  return std::ranges::any_of(guards, [&](const Guard& guard) {
    const Value& v = values[guard.value];
    const bool orders = v.kind == ValueKind::compare && v.code != Code::eq && v.code != Code::ne;
    if (!orders || values.is_integer(v.a) || values.is_integer(v.b)) return false;
    const auto is_field = [&](ValueId id) {
      while (values[id].kind == ValueKind::cast) id = values[id].a;
      return values[id].kind == ValueKind::cell;
    };
    const bool passed = (is_field(v.a) && is_of_arguments(values, v.b)) ||
                        (is_field(v.b) && is_of_arguments(values, v.a));
    if (!passed) return false;
    const ValueId asked = at_call(guard.value);
    return !values_.is_integer(asked) && decide(state, asked) < 0;
  });
}

// A table that takes blocks and throws when the key is there already: nothing that the caller
// could know tells the two apart, and who gives the block away has looked.
bool FunctionRun::presumes_unthrown(const State& state, const Summary& summary, const Case& taken,
                                    const Input& input, Instance& at_call) {
  if (!taken.throws || taken.fate != Fate::live || !taken.in_place || !taken.holders.empty()) {
    return false;
  }
  if (summary.values[input.value].kind != ValueKind::param || taken.by_content) return false;
  bool keeps = false;
  for (const Case& other : input.cases) {
    if (other.throws || (other.fate == Fate::live && other.holders.empty())) continue;
    keeps = true;
    for (const Guard& guard : taken.guards) {
      const auto same = std::ranges::find(other.guards, guard.value, &Guard::value);
      if (same == other.guards.end() || !are_apart(same->fact, guard.fact)) continue;
      if (is_of_arguments(summary.values, guard.value)) return false;
      const Fact known = state.fact(values_, at_call(guard.value));
      const bool implied = known.low >= guard.fact.low && known.high <= guard.fact.high &&
                           (!guard.fact.nonzero || known.nonzero);
      if (implied) return false;
    }
  }
  return keeps;
}

// The callee forgets the followed block in one case and frees it in another, with the same
// answer, and nothing that is known of either tells them apart: what did was merged away
// (a walk along a list that ends at a mark, say). That it forgets it is then a guess.
// A destructor spares it in the same way when it leaves it where it is.
bool FunctionRun::presumes_dropped(const Summary& summary, const Case& taken, const Input& input,
                                   bool destroys) {
  const bool named = summary.values[input.value].kind == ValueKind::cell;
  const bool left = taken.in_place && !(destroys && named);
  if (taken.fate != Fate::live || left || !taken.holders.empty() || taken.throws ||
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

namespace {

// Is it a number that the callee changes by a constant, and puts back? Looked at before or after.
bool is_counted(const Summary& summary, const Case& taken, ValueId id) {
  const Values& values = summary.values;
  const auto is_changed = [&](ValueId value) {
    const auto has = [&](const Cell& cell) {
      ValueId put = cell.value;
      while (values[put].kind == ValueKind::cast) put = values[put].a;
      const Value& v = values[put];
      return v.kind == ValueKind::binary && (v.code == Code::add || v.code == Code::sub) &&
             values.is_integer(v.b) && (put == value || v.a == value);
    };
    return std::ranges::any_of(taken.beside, has) ||
           std::ranges::any_of(summary.effect.writes, has);
  };
  while (!is_changed(id)) {
    const Value& v = values[id];
    if (v.kind != ValueKind::cast && v.kind != ValueKind::compare) return false;
    if (v.kind == ValueKind::compare && !values.is_integer(v.b)) return false;
    id = v.a;
  }
  return true;
}

}  // namespace

// A count of references says that there are others, and so the callee does not free the
// block. When the caller does not know the count, others have the block: who, is not seen.
bool FunctionRun::presumes_shared(const State& state, const Summary& summary, const Case& taken,
                                  const Input& input, Instance& at_call) const {
  if (taken.fate != Fate::live || !taken.holders.empty()) return false;
  const auto is_known = [&](ValueId count) {
    // Its own caller may know.
    return values_.is_integer(count) || (mode_ == Mode::input && is_about_input(count));
  };
  // A destructor that lowers a count and does no more.
  const bool elsewhere = std::ranges::any_of(
      input.cases, [](const Case& other) { return other.fate != Fate::live && !other.throws; });
  const bool lowers = std::ranges::any_of(taken.beside, [&](const Cell& cell) {
    ValueId put = cell.value;
    while (summary.values[put].kind == ValueKind::cast) put = summary.values[put].a;
    const Value& v = summary.values[put];
    return v.kind == ValueKind::binary && v.code == Code::add && summary.values.is_integer(v.b) &&
           summary.values[v.b].number == -1 && !is_known(at_call(v.a));
  });
  if (elsewhere && lowers && program_.signature(at_call.callee()).destroys) return true;
  return std::ranges::any_of(taken.guards, [&](const Guard& guard) {
    if (!is_counted(summary, taken, guard.value)) return false;
    const bool decides = std::ranges::any_of(input.cases, [&](const Case& other) {
      if (other.fate == Fate::live) return false;
      const auto same = std::ranges::find(other.guards, guard.value, &Guard::value);
      return same != other.guards.end() && are_apart(same->fact, guard.fact);
    });
    if (!decides) return false;
    const ValueId count = at_call(guard.value);
    if (is_known(count)) return false;
    const Fact known = state.fact(values_, count);
    return known.low < guard.fact.low || known.high > guard.fact.high ||
           (guard.fact.nonzero && !is_nonzero(state, count));
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

namespace {

// The parameter of which the guard says that it is null, or kNoValue.
ValueId null_parameter(const Summary& summary, const Guard& guard) {
  if (!says_null(summary.values, guard)) return kNoValue;
  const Value& v = summary.values[guard.value];
  const ValueId out = v.kind == ValueKind::compare ? v.a : guard.value;
  return summary.values[out].kind == ValueKind::param ? out : kNoValue;
}

// Does the call pass a pointer there, as the source says?
bool passes_pointer(const Function& body, const Operation& call, std::int64_t number) {
  if (number < 0 || number >= call.pool_count) return false;
  const Operand operand = body.pool[call.pool_begin + static_cast<std::uint32_t>(number)];
  if (operand.kind() != OperandKind::result) return false;
  const Operation& made = body.operations[operand.index()];
  return made.op == Op::load && made.pointer;
}

}  // namespace

// A function that refuses null: that the caller passes it, of which nothing says so, would be
// a guess. `fields`: what comes out of memory may be null for that no more than a parameter.
bool FunctionRun::presumes_null(const State& state, std::uint32_t index, const Summary& summary,
                                const Guard& guard, bool fields, Instance& at_call) const {
  const ValueId parameter = null_parameter(summary, guard);
  if (parameter == kNoValue) return false;
  if (!passes_pointer(body_, body_.operations[index], summary.values[parameter].number)) {
    return false;
  }
  const ValueId given = at_call(parameter);
  const ValueKind kind = values_[given].kind;
  const bool entered = kind == ValueKind::param || (kind == ValueKind::cell && fields);
  const bool tested = given.index < tested_.size() && tested_[given.index];
  return entered && !tested && state.fact(values_, given).trivial();
}

// The same where the function takes the block otherwise: it does nothing to it only then.
bool FunctionRun::presumes_null_beside(const State& state, std::uint32_t index,
                                       const Summary& summary, const Case& taken,
                                       const Input& input, Instance& at_call) const {
  if (taken.fate != Fate::live || !taken.in_place || taken.throws || !taken.holders.empty() ||
      input.cases.size() == 1) {
    return false;
  }
  const auto presumes = [&](const std::vector<Guard>& guards) {
    return std::ranges::any_of(guards, [&](const Guard& guard) {
      return presumes_null(state, index, summary, guard, false, at_call);
    });
  };
  return presumes(taken.guards) ||
         (!taken.ways.empty() && std::ranges::all_of(taken.ways, [&](const GuardSet& way) {
           return presumes(way.guards);
         }));
}

// What the callee's result means, without the failures that would come of such a null alone. A
// number tells of one when it is not zero, a pointer when it is.
std::vector<Meaning> FunctionRun::likely_meanings(const State& state, std::uint32_t index,
                                                  const Summary& summary, Instance& at_call) const {
  const bool pointer = body_.operations[index].width == sizeof(void*);
  const auto presumes = [&](const Guard& guard) {
    return presumes_null(state, index, summary, guard, !pointer, at_call);
  };
  std::vector<Meaning> out = summary.effect.meanings;
  for (std::size_t i = 0; i < out.size(); ++i) {
    Meaning& meaning = out[i];
    if (!meaning.possible || (static_cast<Sign>(i) == Sign::zero) != pointer) continue;
    const bool listed = !meaning.ways.empty();
    std::erase_if(meaning.ways,
                  [&](const GuardSet& way) { return std::ranges::any_of(way.guards, presumes); });
    const bool none = listed && meaning.ways.empty();
    if (none || std::ranges::any_of(meaning.guards, presumes)) meaning.possible = false;
  }
  return out;
}

}  // namespace plumb::check
