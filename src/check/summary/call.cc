#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

ValueId FunctionRun::block_from(const Site& site) {
  const auto number = static_cast<std::uint32_t>(block_numbers_.size() + 1);
  const auto [entry, fresh] = block_numbers_.try_emplace(site, number);
  return values_.object(ObjectId::of(ObjectKind::heap, entry->second));
}

// A block of a library function. It is the focus when its run is being started.
ValueId FunctionRun::new_block(State& state, const Site& site) {
  if (mode_ == Mode::plain) {
    note_site(site, state);
  } else if (mode_ == Mode::site && starting_ && site == site_) {
    state.fate = Fate::live;
    return focus_;
  }
  const ValueId block = block_from(site);
  forget_failure(state, block);
  return block;
}

// The next block of a site may come although the one before did not.
void FunctionRun::forget_failure(State& state, ValueId block) const {
  if (!may_have_failed(block)) return;
  std::erase_if(state.facts, [&](const auto& known) {
    return known.first == block || values_[known.first].a == block;
  });
}

// One name stands for all the blocks of a site. When the next one comes while
// an older one holds the followed block, which of them holds it is not known.
void FunctionRun::renew(State& state, ValueId block) {
  if (mode_ != Mode::site || block == focus_ || state.fate != Fate::live) return;
  if (!leads_to_focus(state, block)) return;
  state.fate = Fate::escaped;
  outlived_ = true;
}

void FunctionRun::raise(State state, std::uint32_t index, std::uint32_t thrown) {
  state.thrown = thrown;
  const Operation& next = body_.operations[index + 1];
  if (next.op == Op::invoke_end) {
    state.trail = extend(state.trail, index, TrailStep::kThrows);
    decide_openly(true);
    send(BlockIndex::of(shape_.block_of[index]), next.targets[1], std::move(state));
  } else {
    leave(state, index, true);
  }
}

std::vector<ValueId> FunctionRun::arguments_of(const State& state, const Operation& o) {
  std::vector<ValueId> arguments;
  arguments.reserve(o.pool_count);
  for (std::uint32_t i = 0; i < o.pool_count; ++i) {
    arguments.push_back(value(state, body_.pool[o.pool_begin + i]));
  }
  return arguments;
}

namespace {

// Has the attribute `malloc`, and is given nothing in which it could keep the block,
// as a pool would.
bool is_allocator(const Declaration& declaration) {
  return declaration.allocates && (declaration.kept_params & ~declaration.const_params) == 0;
}

}  // namespace

void FunctionRun::call(State state, std::uint32_t index, std::vector<State>& after) {
  const Operation& o = body_.operations[index];
  const std::vector<ValueId> arguments = arguments_of(state, o);
  if (std::ranges::any_of(arguments, [&](ValueId each) { return is_focus(each); })) {
    state.used_at = index;
  }
  const Value callee = values_[value(state, o.a)];
  const ProgramSymbol* symbol = nullptr;
  if (callee.kind == ValueKind::object && ObjectId{callee.number}.kind() == ObjectKind::function) {
    symbol = &program_.symbol(ProgramSymbolId::of(ObjectId{callee.number}.index()));
  }
  if (symbol && symbol->function) {
    if (on_call_) note_call(state, index, *symbol->function, arguments);
    const Summary* summary = known_.find(*symbol->function);
    if (known_.first_round && known_.is_own(*symbol->function) && !summary->known) return;
    if (summary && summary->known) {
      apply(std::move(state), index, *symbol->function, arguments, after);
      return;
    }
  } else if (symbol) {
    if (const LibraryModel* model = library_.find(symbol->name)) {
      call_library(std::move(state), index, *model, arguments, after);
      return;
    }
  }
  if (is_virtual_call(o) && is_indirect_call(o)) {
    if (!call_virtual(state, index, arguments, value(state, o.a), after)) return;
  }
  const Declaration* declaration = symbol ? symbol->declaration : nullptr;
  if (o.noreturn || (declaration && declaration->noreturn)) return;
  if (declaration && is_allocator(*declaration)) {
    static const LibraryModel kAllocator = [] {
      LibraryModel model;
      model.allocates = true;
      return model;
    }();
    call_library(std::move(state), index, kAllocator, arguments, after);
    return;
  }
  const bool held = mode_ == Mode::site && state.fate == Fate::live;
  const std::size_t before = after.size();
  call_unknown(std::move(state), index, declaration, arguments, after);
  const bool gone =
      held && std::any_of(after.begin() + static_cast<std::ptrdiff_t>(before), after.end(),
                          [](const State& each) { return each.fate == Fate::escaped; });
  if (gone && symbol) note_unknown(ObjectId{callee.number}.index());
}

void FunctionRun::note_unknown(std::uint32_t symbol) {
  if (last_unknown_ == std::pair(site_, symbol)) return;  // a loop comes here again and again
  last_unknown_ = {site_, symbol};
  summary_.handed_to.push_back(symbol);
}

void FunctionRun::call_unknown(State state, std::uint32_t index, const Declaration* declaration,
                               const std::vector<ValueId>& arguments, std::vector<State>& after) {
  const Operation& o = body_.operations[index];
  Left left;
  if (!declaration && is_indirect_call(o)) {
    left = is_virtual_call(o) ? program_.left_alone(class_of(o), o.immediate)
                              : program_.left_alone(o.type);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i < 64 && (left.alone >> i & 1)) continue;
    if (i < 64 && (left.spared >> i & 1)) {
      change(state, arguments[i]);
      continue;
    }
    if (o.read_from != 0 && i >= o.read_from) continue;
    const bool reads = declaration && i < 64 && (declaration->const_params >> i & 1);
    const bool is_number = declaration && i < 64 && (declaration->number_params >> i & 1);
    const bool keeps = !declaration || i >= 64 || is_number || (declaration->kept_params >> i & 1);
    // What a container holds is not const because the container is.
    if (const Cell* held = reads ? content(state, arguments[i]) : nullptr) {
      escape(state, held->value);
    }
    if (reads) continue;
    take_where_held(state, arguments[i]);
    if (keeps) {
      escape(state, arguments[i]);
      havoc(state, arguments[i]);
    } else {
      rewrite(state, arguments[i]);
    }
  }
  give_up_global(state);
  if (o.width) state.set_result(index, values_.fresh());
  last_holder_ = {};
  check_lost(state, index, LossKind::overwritten);
  after.push_back(std::move(state));
}

// A size is positive, and so is what one byte was added to.
bool FunctionRun::learn_size(State& state, ValueId size) {
  if (!state.learn(values_, size, {.nonzero = true})) return false;
  std::int64_t most = 0;
  constexpr int kDeepest = 4;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const Value v = values_[size];
    if (v.kind == ValueKind::cast) {
      size = v.a;
    } else if (v.kind == ValueKind::binary && v.code == Code::add && values_.is_integer(v.b) &&
               values_[v.b].number == 1) {
      size = v.a;
      most = 1;
    } else {
      break;
    }
  }
  if (most == 0 || values_.is_integer(size)) return true;
  return state.learn(values_, size, {0, INT64_MAX, false});
}

void FunctionRun::call_library(State state, std::uint32_t index, const LibraryModel& model,
                               const std::vector<ValueId>& arguments, std::vector<State>& after) {
  const Operation& o = body_.operations[index];
  const auto argument = [&](int i) {
    return i >= 0 && static_cast<std::size_t>(i) < arguments.size()
               ? arguments[static_cast<std::size_t>(i)]
               : values_.integer(0);
  };
  if (model.noreturn) {
    const bool again = model.exception == ExceptionEffect::rethrows;
    if (o.nounwind || (!again && model.exception != ExceptionEffect::throws)) return;
    const std::uint32_t caught = state.caught.empty() ? kAnyClass : state.caught.back();
    raise(std::move(state), index, again ? caught : class_of(argument(1)));
    return;
  }
  if (model.exception == ExceptionEffect::begins) begin_catch(state);
  if (model.exception == ExceptionEffect::ends) end_catch(state);
  if (model.noreturn_if >= 0 && !assume_fact(state, argument(model.noreturn_if), {0, 0, false})) {
    return;
  }
  if (model.container != ContainerEffect::none) {
    call_container(std::move(state), index, model.container, arguments, after);
    return;
  }
  if (starting_) family_ = model.family_id;
  const Site site{index, Origin::kNone, 0};
  const LastHolder holder = held_by_argument(state, o, arguments);
  if (model.copies && arguments.size() >= 3) copy(state, arguments[0], arguments[1], arguments[2]);
  for (std::size_t i = 0; i < arguments.size() && i < 32; ++i) {
    if (model.writes >> i & 1) overwrite(state, arguments[i]);
    if (model.keeps >> i & 1) escape(state, arguments[i]);
    if (model.frees >> i & 1) release(state, index, arguments[i], model.family_id);
  }
  for (const auto& [parameter, bytes] : model.changes) {
    fill(state, argument(parameter), values_.fresh(), values_.integer(bytes));
  }
  if (model.calls >= 0 && run_thread(state, index, model, arguments, after)) return;
  if (model.joins >= 0) join_thread(state, index, argument(0), argument(model.joins));
  // Nobody wants a block of no bytes: a size is no zero, unless it is known to be.
  for (std::size_t i = 0; i < arguments.size() && i < 32; ++i) {
    if (!(model.sizes >> i & 1)) continue;
    const bool empty = !learn_size(state, arguments[i]);
    // When the callers pass it so, there is one all the same.
    if (empty && starting_ && supposed_.empty()) return;
  }
  ValueId result = kNoValue;
  if (model.allocates) {
    result = new_block(state, site);
    renew(state, result);
    state.drop_cells_of(result);
    if (model.zeroed) fill(state, result, values_.integer(0), values_.fresh());
  } else if (model.reallocates >= 0) {
    const ValueId old = argument(model.reallocates);
    const bool follows = mode_ == Mode::site && !starting_ && old == focus_ && o.width != 0;
    if ((limits_.oom || follows) && !(mode_ == Mode::site && starting_)) {
      State failed = state;
      if (follows) {
        failed.failure = values_.fresh();
        failed.tested = false;
        failed.learn(values_, failed.failure, {0, 0, false});
        failed.set_result(index, failed.failure);
      } else if (o.width) {
        failed.set_result(index, values_.integer(0));
      }
      failed.trail = extend(failed.trail, index, 0);
      after.push_back(std::move(failed));
    }
    const ValueId base = values_.target(old);
    result = new_block(state, site);
    if (result != base) {
      move(state, old, result);
      release(state, index, old, model.family_id);
    }
  } else if (model.alloc_to >= 0 || model.grow_to >= 0) {
    const ValueId to = argument(model.alloc_to >= 0 ? model.alloc_to : model.grow_to);
    const bool fails = model.may_fail && !(mode_ == Mode::site && starting_);
    if (fails && mode_ != Mode::plain) {
      State failed = state;
      const ValueId status = values_.fresh();
      failed.learn(values_, status, {.nonzero = true});
      failed.set_result(index, status);
      after.push_back(std::move(failed));
    }
    const ValueId block = new_block(state, site);
    if (model.grow_to >= 0 && block != focus_) free_value(state, load(state, to, 8));
    store(state, to, 8, block);
    const bool either = fails && mode_ == Mode::plain;
    if (model.result_zero && !either) result = values_.integer(0);
    if (model.result_positive) {
      result = values_.fresh();
      state.learn(values_, result, {1, INT64_MAX, true});
    }
  } else if (model.returns_or_allocates) {
    const ValueId given = argument(model.returns);
    result = values_.is_zero(given) ? new_block(state, site) : given;
  } else if (model.returns >= 0) {
    result = argument(model.returns);
  } else if (model.within >= 0) {
    const ValueId base = argument(model.within);
    if (mode_ != Mode::plain && is_focus(base)) {
      State absent = state;
      absent.set_result(index, values_.integer(0));
      after.push_back(std::move(absent));
      result = values_.index(base, values_.fresh(), 1);
    }
  }
  // Of what allocates nothing: it always succeeds.
  const bool allocates = model.allocates || model.reallocates >= 0 || model.alloc_to >= 0 ||
                         model.grow_to >= 0 || model.returns_or_allocates;
  if (model.result_zero && !allocates) result = values_.integer(0);
  if ((model.result_natural || model.result_length || model.result_status) && result == kNoValue) {
    result = values_.fresh();
    state.learn(
        values_, result,
        {model.result_status ? -1 : 0, model.result_length ? kLargestObject : INT64_MAX, false});
  }
  if (o.width) state.set_result(index, result == kNoValue ? values_.fresh() : result);
  last_holder_ = holder;
  check_lost(state, index,
             model.frees        ? LossKind::holder_freed
             : model.joins >= 0 ? LossKind::discarded
                                : LossKind::overwritten);
  after.push_back(std::move(state));
}

}  // namespace plumb::check
