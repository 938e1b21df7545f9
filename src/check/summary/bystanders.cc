#include "check/summary/bystanders.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "check/model/virtual_calls.h"

namespace plumb::check {

namespace {

using Mask = std::uint64_t;  // of the parameters of the function in hand
constexpr Mask kAll = ~Mask{0};
constexpr std::uint32_t kMostParams = 64;
constexpr std::uint32_t kModelParams = 32;
constexpr std::uint32_t kNoVar = ~0u;

Mask bit(std::uint32_t parameter) {
  return parameter < kMostParams ? Mask{1} << parameter : Mask{0};
}

class Bystanders {
 public:
  Bystanders(const Program& program, const Library& library)
      : program_(program),
        library_(library),
        alone_(program.functions().size(), kAll),
        spared_(program.functions().size(), kAll),
        unwritten_(program.functions().size(), kAll) {}

  CallsThroughPointers find();

 private:
  // Parameters: what is derived from them in any way, and what points into what they point to.
  struct From {
    Mask any = 0;
    Mask itself = 0;

    From operator|(const From& other) const { return {any | other.any, itself | other.itself}; }
  };

  // As Left, and what is not written itself, whatever becomes of what hangs on it.
  struct Leaves {
    Mask alone = 0;
    Mask spared = 0;
    Mask unwritten = 0;

    Leaves operator&(const Leaves& other) const {
      return {alone & other.alone, spared & other.spared, unwritten & other.unwritten};
    }
  };

  // What is derived from which parameters, in one function.
  struct Derived {
    std::vector<From> results;             // by operation
    std::vector<From> vars;                // held by the variable
    std::vector<std::uint32_t> addresses;  // by operation: the variable that it is in
    Mask touched = 0;
    Mask lost = 0;  // itself kept, freed or returned
    Mask written = 0;
    bool changed = false;

    void add(Mask& to, Mask what) {
      changed = changed || (to | what) != to;
      to |= what;
    }
    void add(From& to, const From& what) {
      add(to.any, what.any);
      add(to.itself, what.itself);
    }
    // It goes out of sight.
    void lose(const From& what) {
      add(touched, what.any);
      add(lost, what.itself);
    }
  };

  bool is_program() const;
  void reach(FunctionId root);
  bool look_at(FunctionId id);
  void step(const ProgramFunction& function, std::uint32_t index, Derived& derived);
  void call(const ProgramFunction& function, std::uint32_t index, Derived& derived);
  From of(const Derived& derived, Operand operand) const;
  std::uint32_t var_of(const Derived& derived, Operand address) const;
  From content(const Derived& derived, Operand address) const;
  void put(Derived& derived, Operand address, const From& what);
  std::optional<Mask> looked_at(const ProgramSymbol& symbol) const;
  Mask left_to_others(const ProgramSymbol& symbol) const;
  Leaves left_by(ProgramSymbolId id) const;
  void find_virtual_calls();
  void join_virtual_calls(CallsThroughPointers& found) const;

  const Program& program_;
  const Library& library_;
  std::vector<Mask> alone_;             // by FunctionId
  std::vector<Mask> spared_;            // by FunctionId: but for what hangs on them
  std::vector<Mask> unwritten_;         // by FunctionId
  std::vector<bool> reached_;           // by FunctionId
  std::vector<FunctionId> candidates_;  // and what they call
  std::map<VirtualCall, std::vector<ProgramSymbolId>> virtual_calls_;  // and where they lead
};

bool Bystanders::is_program() const {
  return std::ranges::any_of(program_.functions(), [&](const ProgramFunction& function) {
    return program_.symbol(function.symbol).name == "main";
  });
}

// All functions that may be called, by name, from `root` on.
void Bystanders::reach(FunctionId root) {
  reached_.resize(program_.functions().size(), false);
  std::vector<FunctionId> work{root};
  while (!work.empty()) {
    const FunctionId id = work.back();
    work.pop_back();
    if (reached_[id.index]) continue;
    reached_[id.index] = true;
    candidates_.push_back(id);
    for (const FunctionId callee : program_.callees(id)) work.push_back(callee);
  }
}

Bystanders::From Bystanders::of(const Derived& derived, Operand operand) const {
  switch (operand.kind()) {
    case OperandKind::param:
      return {bit(operand.index()), bit(operand.index())};
    case OperandKind::result:
      return derived.results[operand.index()];
    case OperandKind::var:
      return derived.vars[operand.index()];  // what is behind its address
    default:
      return {};
  }
}

std::uint32_t Bystanders::var_of(const Derived& derived, Operand address) const {
  if (address.kind() == OperandKind::var) return address.index();
  if (address.kind() == OperandKind::result) return derived.addresses[address.index()];
  return kNoVar;
}

// What is copied from there.
Bystanders::From Bystanders::content(const Derived& derived, Operand address) const {
  const From from = of(derived, address);
  return var_of(derived, address) == kNoVar ? From{from.any, 0} : from;
}

// Something is written to memory: into a variable it stays in sight, elsewhere it is kept,
// unless it is put in itself.
void Bystanders::put(Derived& derived, Operand address, const From& what) {
  const std::uint32_t var = var_of(derived, address);
  if (var != kNoVar) {
    derived.add(derived.vars[var], what);
    return;
  }
  const From to = of(derived, address);
  derived.add(derived.touched, what.any);
  derived.add(derived.touched, to.any);  // what it points to is changed
  derived.add(derived.written, to.itself);
  const bool one = (to.itself & (to.itself - 1)) == 0;
  derived.add(derived.lost, one ? what.itself & ~to.itself : what.itself);
}

// A function that is not defined here: the parameters that it only looks at.
std::optional<Mask> Bystanders::looked_at(const ProgramSymbol& symbol) const {
  if (const LibraryModel* model = library_.find(symbol.name)) {
    if (model->noreturn) return kAll;
    if (model->container != ContainerEffect::none || model->calls >= 0 || model->copies) return 0;
    Mask touched = Mask{model->frees} | model->keeps | model->writes;
    for (const int each : {model->alloc_to, model->grow_to, model->reallocates}) {
      if (each >= 0) touched |= bit(static_cast<std::uint32_t>(each));
    }
    for (const auto& [parameter, bytes] : model->changes) {
      touched |= bit(static_cast<std::uint32_t>(parameter));
    }
    return ~touched & (bit(kModelParams) - 1);
  }
  if (symbol.declaration) return symbol.declaration->const_params;
  return std::nullopt;
}

// Of such a one: those that it may change, but neither keeps nor frees itself.
Mask Bystanders::left_to_others(const ProgramSymbol& symbol) const {
  const LibraryModel* model = library_.find(symbol.name);
  if (!model) {
    return symbol.declaration
               ? symbol.declaration->const_params |
                     ~(symbol.declaration->kept_params | symbol.declaration->number_params)
               : 0;
  }
  if (model->noreturn) return kAll;
  if (model->container != ContainerEffect::none || model->calls >= 0) return 0;
  Mask lost = Mask{model->frees} | model->keeps;
  if (model->reallocates >= 0) lost |= bit(static_cast<std::uint32_t>(model->reallocates));
  return ~lost & (bit(kModelParams) - 1);
}

void Bystanders::call(const ProgramFunction& function, std::uint32_t index, Derived& derived) {
  const Function& body = *function.body;
  const Operation& o = body.operations[index];
  const ProgramSymbol* symbol =
      o.a.kind() == OperandKind::symbol
          ? &program_.symbol(program_.resolve(function.unit, SymbolId::of(o.a.index())))
          : nullptr;
  Leaves left;
  if (symbol) {
    left = left_by(program_.resolve(function.unit, SymbolId::of(o.a.index())));
  } else if (is_virtual_call(o)) {
    const ProgramSymbolId type = program_.resolve(function.unit, SymbolId::of(o.b.index()));
    if (const auto to = virtual_calls_.find({type.index, o.immediate});
        to != virtual_calls_.end()) {
      left = {kAll, kAll, kAll};
      for (const ProgramSymbolId each : to->second) {
        left = left & left_by(each);
      }
    }
  }
  const LibraryModel* model = symbol && !symbol->function ? library_.find(symbol->name) : nullptr;
  for (std::uint32_t i = 0; i < o.pool_count; ++i) {
    const Operand argument = body.pool[o.pool_begin + i];
    const From what = of(derived, argument);
    if (what.any == 0) continue;
    if (!(left.alone & bit(i))) {
      derived.add(derived.touched, what.any);
      // Of a variable that it is given, the content is as good as gone.
      const bool itself = var_of(derived, argument) == kNoVar;
      if (!itself || !(left.spared & bit(i))) derived.add(derived.lost, what.itself);
      if (!itself || !(left.unwritten & bit(i))) derived.add(derived.written, what.itself);
    }
    const int number = static_cast<int>(i);
    if (model && (model->returns == number || model->within == number)) {
      derived.add(derived.results[index], what);
    }
  }
}

void Bystanders::step(const ProgramFunction& function, std::uint32_t index, Derived& derived) {
  const Function& body = *function.body;
  const Operation& o = body.operations[index];
  From& result = derived.results[index];
  switch (o.op) {
    case Op::load:
      // A number that is read is no way to what it was read from.
      if (o.pointer || o.width > sizeof(void*)) {
        const From from = of(derived, o.a);
        derived.add(result, var_of(derived, o.a) == kNoVar ? From{from.any, 0} : from);
      }
      break;
    case Op::store:
      put(derived, o.a, of(derived, o.b));
      break;
    case Op::copy:
      put(derived, o.a, content(derived, o.b));
      break;
    case Op::fill:
      put(derived, o.a, {});
      break;
    case Op::offset:
    case Op::index:
      derived.addresses[index] = var_of(derived, o.a);
      derived.add(result, of(derived, o.a));
      break;
    case Op::cast:
    case Op::extract:
      // A part of an address is a number: where a table puts what is known by it.
      if (o.width >= sizeof(void*)) derived.add(result, of(derived, o.a));
      break;
    case Op::binary:
    case Op::insert:
      derived.add(result, of(derived, o.a) | of(derived, o.b));
      break;
    case Op::select:
      derived.add(result, of(derived, o.b) | of(derived, o.c));
      break;
    case Op::phi:
      for (std::uint32_t i = 1; i < o.pool_count; i += 2) {
        derived.add(result, of(derived, body.pool[o.pool_begin + i]));
      }
      break;
    case Op::call:
      call(function, index, derived);
      break;
    case Op::returns:
      if (o.width) derived.lose(of(derived, o.a));
      break;
    default:
      break;
  }
}

// Is less known to be left alone than before?
bool Bystanders::look_at(FunctionId id) {
  Mask& alone = alone_[id.index];
  Mask& spared = spared_[id.index];
  Mask& unwritten = unwritten_[id.index];
  if (spared == 0) return false;
  const ProgramFunction& function = program_.functions()[id.index];
  const Function& body = *function.body;
  Derived derived{std::vector<From>(body.operations.size()), std::vector<From>(body.vars.size()),
                  std::vector<std::uint32_t>(body.operations.size(), kNoVar)};
  do {
    derived.changed = false;
    for (std::uint32_t i = 0; i < body.operations.size(); ++i) step(function, i, derived);
  } while (derived.changed && derived.lost != kAll);
  const Mask now = alone & ~derived.touched;
  const Mask then = spared & ~derived.lost;
  const Mask plain = unwritten & ~derived.written;
  const bool less = now != alone || then != spared || plain != unwritten;
  alone = now;
  spared = then;
  unwritten = plain;
  return less;
}

Bystanders::Leaves Bystanders::left_by(ProgramSymbolId id) const {
  const ProgramSymbol& symbol = program_.symbol(id);
  if (!symbol.function) {
    const Mask alone = looked_at(symbol).value_or(0);
    return {alone, left_to_others(symbol), alone};
  }
  const std::uint32_t params = program_.functions()[symbol.function->index].body->params;
  const Mask own = params < kMostParams ? bit(params) - 1 : kAll;
  const std::uint32_t index = symbol.function->index;
  return {alone_[index] & own, spared_[index] & own, unwritten_[index] & own};
}

// Where the classes of the program say where a virtual call may lead, and one of the functions
// there is more than a default that others are to override.
void Bystanders::find_virtual_calls() {
  for (const ProgramFunction& function : program_.functions()) {
    for (const Operation& o : function.body->operations) {
      if (!is_virtual_call(o) || !is_indirect_call(o)) continue;
      const ProgramSymbolId type = program_.resolve(function.unit, SymbolId::of(o.b.index()));
      const auto [entry, fresh] = virtual_calls_.try_emplace({type.index, o.immediate});
      if (fresh) entry->second = virtual_targets(program_, type, o.immediate);
    }
  }
  std::erase_if(virtual_calls_, [](const auto& each) { return each.second.empty(); });
  for (const auto& [call, targets] : virtual_calls_) {
    for (const ProgramSymbolId target : targets) {
      if (program_.symbol(target).function) reach(*program_.symbol(target).function);
    }
  }
}

void Bystanders::join_virtual_calls(CallsThroughPointers& found) const {
  for (const auto& [call, targets] : virtual_calls_) {
    Leaves left{kAll, kAll, kAll};
    for (const ProgramSymbolId target : targets) {
      left = left & left_by(target);
    }
    if (left.spared != 0) found.by_class.emplace(call, Left{left.alone, left.spared});
  }
}

CallsThroughPointers Bystanders::find() {
  std::unordered_map<std::uint32_t, Leaves> out;
  // Only types that are called through pointers matter. To a library its users may pass
  // what nobody has seen here; what returns nothing is there to change or free something.
  const bool closed = is_program();
  for (const ProgramFunction& function : program_.functions()) {
    for (const Operation& o : function.body->operations) {
      if (is_indirect_call(o) && (closed || o.width != 0)) out.try_emplace(o.type);
    }
  }
  std::vector<std::pair<std::uint32_t, ProgramSymbolId>> taken;  // by type
  for (std::uint32_t i = 0; i < program_.symbols(); ++i) {
    const ProgramSymbolId id = ProgramSymbolId::of(i);
    const ProgramSymbol& symbol = program_.symbol(id);
    if (!symbol.address_taken || (!symbol.function && !symbol.declaration)) continue;
    const std::uint32_t type = symbol.function
                                   ? program_.functions()[symbol.function->index].body->type
                                   : symbol.declaration->type;
    const auto called = out.find(type);
    if (called == out.end()) continue;
    taken.emplace_back(type, id);
    if (symbol.function) {
      called->second = {kAll, kAll, kAll};
      reach(*symbol.function);
    }
  }
  find_virtual_calls();
  for (bool changed = true; changed;) {
    changed = false;
    for (const FunctionId id : candidates_) changed = look_at(id) || changed;
  }
  for (const auto& [type, id] : taken) {
    Leaves& left = out[type];
    left = left & left_by(id);
  }
  CallsThroughPointers known;
  for (const auto& [type, left] : out) {
    // Others of the type may be set by code that is not here, to free what these only change.
    const Left known_left{left.alone, left.spared & left.unwritten};
    if (known_left.alone | known_left.spared) known.by_type.emplace(type, known_left);
  }
  join_virtual_calls(known);
  return known;
}

}  // namespace

CallsThroughPointers find_bystanders(const Program& program, const Library& library) {
  return Bystanders(program, library).find();
}

}  // namespace plumb::check
