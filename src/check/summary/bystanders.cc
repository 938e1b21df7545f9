#include "check/summary/bystanders.h"

#include <algorithm>
#include <optional>
#include <vector>

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
      : program_(program), library_(library), alone_(program.functions().size(), kAll) {}

  std::unordered_map<std::uint32_t, Mask> find();

 private:
  // What is derived from which parameters, in one function.
  struct Derived {
    std::vector<Mask> results;             // by operation
    std::vector<Mask> vars;                // held by the variable
    std::vector<std::uint32_t> addresses;  // by operation: the variable that it is in
    Mask touched = 0;
    bool changed = false;

    void add(Mask& to, Mask what) {
      changed = changed || (to | what) != to;
      to |= what;
    }
  };

  bool is_program() const;
  void reach(FunctionId root);
  Mask untouched(FunctionId id);
  void step(const ProgramFunction& function, std::uint32_t index, Derived& derived);
  void call(const ProgramFunction& function, std::uint32_t index, Derived& derived);
  Mask of(const Derived& derived, Operand operand) const;
  std::uint32_t var_of(const Derived& derived, Operand address) const;
  void put(Derived& derived, Operand address, Mask what);
  std::optional<Mask> looked_at(const ProgramSymbol& symbol) const;

  const Program& program_;
  const Library& library_;
  std::vector<Mask> alone_;             // by FunctionId
  std::vector<bool> reached_;           // by FunctionId
  std::vector<FunctionId> candidates_;  // and what they call
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

Mask Bystanders::of(const Derived& derived, Operand operand) const {
  switch (operand.kind()) {
    case OperandKind::param:
      return bit(operand.index());
    case OperandKind::result:
      return derived.results[operand.index()];
    case OperandKind::var:
      return derived.vars[operand.index()];  // what is behind its address
    default:
      return 0;
  }
}

std::uint32_t Bystanders::var_of(const Derived& derived, Operand address) const {
  if (address.kind() == OperandKind::var) return address.index();
  if (address.kind() == OperandKind::result) return derived.addresses[address.index()];
  return kNoVar;
}

// Something is written to memory: into a variable it stays in sight, elsewhere it is kept.
void Bystanders::put(Derived& derived, Operand address, Mask what) {
  const std::uint32_t var = var_of(derived, address);
  if (var != kNoVar) {
    derived.add(derived.vars[var], what);
    return;
  }
  derived.add(derived.touched, what);
  derived.add(derived.touched, of(derived, address));  // what it points to is changed
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

void Bystanders::call(const ProgramFunction& function, std::uint32_t index, Derived& derived) {
  const Function& body = *function.body;
  const Operation& o = body.operations[index];
  const ProgramSymbol* symbol =
      o.a.kind() == OperandKind::symbol
          ? &program_.symbol(program_.resolve(function.unit, SymbolId::of(o.a.index())))
          : nullptr;
  Mask alone = 0;
  if (symbol && symbol->function) {
    const Function& callee = *program_.functions()[symbol->function->index].body;
    alone = alone_[symbol->function->index];
    if (callee.params < kMostParams) alone &= bit(callee.params) - 1;
  } else if (symbol) {
    alone = looked_at(*symbol).value_or(0);
  }
  const LibraryModel* model = symbol && !symbol->function ? library_.find(symbol->name) : nullptr;
  for (std::uint32_t i = 0; i < o.pool_count; ++i) {
    const Mask what = of(derived, body.pool[o.pool_begin + i]);
    if (what == 0) continue;
    if (!(alone & bit(i))) derived.add(derived.touched, what);
    const int number = static_cast<int>(i);
    if (model && (model->returns == number || model->within == number)) {
      derived.add(derived.results[index], what);
    }
  }
}

void Bystanders::step(const ProgramFunction& function, std::uint32_t index, Derived& derived) {
  const Function& body = *function.body;
  const Operation& o = body.operations[index];
  Mask& result = derived.results[index];
  switch (o.op) {
    case Op::load:
      // A number that is read is no way to what it was read from.
      if (o.pointer || o.width > sizeof(void*)) derived.add(result, of(derived, o.a));
      break;
    case Op::store:
      put(derived, o.a, of(derived, o.b));
      break;
    case Op::copy:
      put(derived, o.a, of(derived, o.b));
      break;
    case Op::fill:
      put(derived, o.a, 0);
      break;
    case Op::offset:
    case Op::index:
      derived.addresses[index] = var_of(derived, o.a);
      derived.add(result, of(derived, o.a));
      break;
    case Op::cast:
    case Op::extract:
      derived.add(result, of(derived, o.a));
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
      if (o.width) derived.add(derived.touched, of(derived, o.a));
      break;
    default:
      break;
  }
}

Mask Bystanders::untouched(FunctionId id) {
  const ProgramFunction& function = program_.functions()[id.index];
  const Function& body = *function.body;
  Derived derived{std::vector<Mask>(body.operations.size(), 0),
                  std::vector<Mask>(body.vars.size(), 0),
                  std::vector<std::uint32_t>(body.operations.size(), kNoVar)};
  do {
    derived.changed = false;
    for (std::uint32_t i = 0; i < body.operations.size(); ++i) step(function, i, derived);
  } while (derived.changed && derived.touched != kAll);
  return ~derived.touched;
}

std::unordered_map<std::uint32_t, Mask> Bystanders::find() {
  std::unordered_map<std::uint32_t, Mask> out;
  // Only types that are called through pointers matter. To a library its users may pass
  // what nobody has seen here; what returns nothing is there to change or free something.
  const bool closed = is_program();
  for (const ProgramFunction& function : program_.functions()) {
    for (const Operation& o : function.body->operations) {
      if (is_indirect_call(o) && (closed || o.width != 0)) out.emplace(o.type, kAll);
    }
  }
  std::vector<std::pair<std::uint32_t, FunctionId>> taken;  // type, function
  for (std::uint32_t i = 0; i < program_.symbols(); ++i) {
    const ProgramSymbol& symbol = program_.symbol(ProgramSymbolId::of(i));
    if (!symbol.address_taken) continue;
    if (symbol.function) {
      const std::uint32_t type = program_.functions()[symbol.function->index].body->type;
      if (out.contains(type)) taken.emplace_back(type, *symbol.function);
    } else if (symbol.declaration && out.contains(symbol.declaration->type)) {
      out[symbol.declaration->type] &= looked_at(symbol).value_or(0);
    }
  }
  for (const auto& [type, function] : taken) reach(function);
  for (bool changed = true; changed;) {
    changed = false;
    for (const FunctionId id : candidates_) {
      if (alone_[id.index] == 0) continue;
      const Mask now = alone_[id.index] & untouched(id);
      changed = changed || now != alone_[id.index];
      alone_[id.index] = now;
    }
  }
  std::unordered_map<std::uint32_t, Mask> known;
  for (const auto& [type, function] : taken) {
    const auto [entry, fresh] = known.emplace(type, out[type]);
    entry->second &= alone_[function.index];
  }
  std::erase_if(known, [](const auto& each) { return each.second == 0; });
  return known;
}

}  // namespace

std::unordered_map<std::uint32_t, std::uint64_t> find_bystanders(const Program& program,
                                                                 const Library& library) {
  return Bystanders(program, library).find();
}

}  // namespace plumb::check
