#include "check/summary/instance.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace plumb::check {

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
  const std::vector<ValueId> given = is_part ? state.given : std::vector<ValueId>{};
  applying_ = true;
  apply_summary(std::move(state), index, callee, arguments, is_part, after);
  applying_ = false;
  for (std::size_t i = before; is_part && i < after.size(); ++i) {
    if (after[i].fate == Fate::escaped) after[i].fate = Fate::live;
    if (after[i].fate == Fate::live) leave_to_container(after[i], given);
  }
}

// What the container has for itself (nodes, a table of buckets) is lost with it, though it may
// lead back to it, and so does what it wrote at places that are not known.
void FunctionRun::leave_to_container(State& state, const std::vector<ValueId>& given) const {
  state.given = given;
  std::erase_if(state.cells, [&](const Cell& cell) {
    const ValueKind place = values_[values_.target(cell.base)].kind;
    return (place == ValueKind::fresh || place == ValueKind::merge) && holds_focus(cell.value);
  });
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
      if (is_focus(given)) return !is_own_part(summary, input.value, at_call);
      if (summary.values[input.value].kind != ValueKind::reach) return false;
      if (is_below(summary, input.value, at_call)) return false;
      // Anything below the argument: is it there?
      const Value& all = values_[given];
      return leads_to_focus(probe, all.kind == ValueKind::reach ? all.a : given);
    };
    const auto frees = [](const Input& input) {
      return std::ranges::any_of(input.cases,
                                 [](const Case& each) { return each.fate == Fate::freed; });
    };
    // A place that has a name says more than anything that can be reached.
    for (const bool by_reach : {false, true}) {
      for (const Input& input : summary.inputs) {
        const bool is_reach = summary.values[input.value].kind == ValueKind::reach;
        if (is_reach != by_reach || !concerns(input)) continue;
        // Several may lead to the block: a buffer, and where in it reading goes on.
        for (const Input& other : summary.inputs) {
          const bool has_place = summary.values[other.value].kind == ValueKind::cell;
          if (&other != &input && has_place && frees(other) && concerns(other)) {
            other_names_.push_back(&other);
          }
        }
        for (const Case& each : input.cases) {
          if (relies_on_keeping(input, each, index)) continue;
          apply_case(state, index, callee, arguments, &each, &input, false, after);
        }
        other_names_.clear();
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

// Is it a part of the followed block that a member of that block points to? A short text is in
// the object itself, the first bucket of a table, the end of a list. It cannot be freed, and
// what copies the member does not keep the object.
bool FunctionRun::is_own_part(const Summary& summary, ValueId value, Instance& at_call) const {
  const Value& v = summary.values[value];
  if (v.kind != ValueKind::cell || !is_focus(at_call(v.a))) return false;
  const auto [base, offset] = values_.place(at_call(value));
  return base == focus_ && offset > 0;
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

// The callee throws in one of the ways that it tells, if any: perhaps in none that can be here.
void FunctionRun::raise_as_told(const State& state, std::uint32_t index, const Throw& told) {
  std::optional<State> only;
  unsigned possible = 0;
  for (const GuardSet& way : told.ways) {
    State thrown = state;
    const bool holds = std::ranges::all_of(way.guards, [&](const Guard& guard) {
      return assume_fact(thrown, guard.value, guard.fact);
    });
    if (holds && ++possible == 1) only = std::move(thrown);
  }
  if (possible == 0 && !told.ways.empty()) return;
  raise(possible == 1 ? std::move(*only) : state, index, told.thrown);
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
  Grounds rests = 0;  // what this case takes for granted
  const bool fails = taken && input && o.width != 0 && next.failure == kNoValue &&
                     fails_as_realloc(next, summary, *taken, *input, at_call);
  if (taken) {
    if (input && presumes_null_beside(next, index, summary, *taken, *input, at_call)) return;
    if (input && presumes_disowned(next, summary, *taken, *input, taken->guards, at_call)) return;
    if (input && presumes_refused(next, index, summary, *taken, *input, at_call)) return;
    if (taken->throws && presumes_outside(next, summary, taken->guards, at_call)) return;
    if (input && presumes_unthrown(next, summary, *taken, *input, at_call)) return;
    if (input && presumes_dropped(summary, *taken, *input, target.destroys)) return;
    if (input && presumes_shared(next, summary, *taken, *input, at_call)) return;
    if (input && presumes_number(next, summary, *taken, *input, at_call)) return;
    for (const Guard& guard : taken->guards) {
      const ValueId asked = at_call(guard.value);
      const Fact before = replaying_ ? next.fact(values_, asked) : Fact{};
      if (!assume_fact(next, asked, guard.fact)) return;
      if (replaying_ && before != next.fact(values_, asked)) rests |= grounds_of(asked);
    }
    const bool in_some_way = replaying_ && !taken->ways.empty();
    if (in_some_way && !is_certain(next, taken->ways, at_call)) rests |= kOnUnknown;
    if (!taken->ways.empty() && !choose_way(next, summary, *taken, input, at_call)) return;
  }
  struct Write {
    ValueId to;
    std::uint32_t width;
    ValueId value;
    bool replaces = false;  // on each of the callee's paths
  };
  // All values are those before the call.
  std::vector<Throw> throws = taken ? std::vector<Throw>{} : effect.throws;
  std::erase_if(throws, [&](Throw& each) {
    const bool always = each.ways.empty();
    std::erase_if(each.ways, [&](const GuardSet& way) {
      return presumes_outside(next, summary, way.guards, at_call);
    });
    return !always && each.ways.empty();
  });
  for (Throw& each : throws) {
    for (GuardSet& way : each.ways) {
      for (Guard& guard : way.guards) guard.value = at_call(guard.value);
    }
  }
  // Others of the caller's values that the callee frees or keeps:
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
      if (mode_ != Mode::plain && is_own_part(summary, touched.value, at_call)) continue;
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
    const ValueId now = below ? values_.fresh() : at_call(cell.value);
    const bool replaces = !below && summary.values[cell.value].kind == ValueKind::merge;
    if (replaces && mode_ == Mode::plain) newness_.set(now, Newness::all_new);
    writes.push_back({values_.pointer(at_call(cell.base), cell.offset), cell.width, now, replaces});
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
    const std::vector<Meaning> meanings = likely_meanings(next, index, summary, at_call);
    promise(result, meanings, at_call);
    narrow(next, meanings, at_call, fact);
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
      if (const Cell* had = next.find_cell(base, offset); had && is_focus(had->value)) {
        std::erase_if(next.cells, [&, from = base, at_offset = offset](const Cell& cell) {
          return cell.base == from && cell.offset == at_offset;
        });
      }
    }
  }
  for (const Write& write : writes) {
    // Overwritten on some of the callee's paths only, nobody knows which.
    const bool sometimes = !write.replaces && unclear(write.value);
    if (mode_ == Mode::site && next.fate == Fate::live && !taken && sometimes) {
      const auto [base, offset] = values_.place(write.to);
      const Cell* old = next.find_cell(base, offset);
      // (A list that is empty points to itself.)
      const ValueId was = old ? values_.tagged_target(old->value) : kNoValue;
      if (old && values_.is_heap(was) && was != values_.target(base)) {
        escape(next, old->value);
      }
    }
    store(next, write.to, write.width, write.value);
  }
  for (const Cell& cell : own) next.set_cell(cell.base, cell.offset, cell.width, cell.value);
  // Freed, since another place that led to it has something else now.
  for (const Input* other : other_names_) {
    const Value& place = summary.values[other->value];
    const auto [base, offset] = values_.place(values_.pointer(at_call(place.a), place.number));
    const Cell* now = next.find_cell(base, offset);
    if (now && !is_focus(now->value) && next.fate == Fate::live) next.fate = Fate::freed;
  }

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
  for (const ValueId each : kept) forget_counts_at(next, each);
  for (const ValueId value : freed) free_value(next, value);
  if (taken && taken->throws) {
    for (const std::uint32_t thrown : taken->thrown) raise(next, index, thrown);
    return;
  }
  for (const Throw& each : throws) raise_as_told(next, index, each);
  if (!taken && !effect.returns) return;
  if (o.width) {
    if (result == kNoValue) result = values_.fresh();
    if (!fact.trivial() && !assume_fact(next, result, fact)) return;
    next.set_result(index, result);
  }
  if (taken) next.trail = extend(next.trail, index, -1, rests);
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
