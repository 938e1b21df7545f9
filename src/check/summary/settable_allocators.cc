#include "check/summary/settable_allocators.h"

#include <algorithm>
#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace plumb::check {

namespace {

bool is_allocator(const LibraryModel& model) {
  return model.allocates || model.reallocates >= 0 || model.frees != 0;
}

struct GlobalPlace {
  std::uint32_t symbol = 0;
  std::int64_t offset = 0;
  auto operator<=>(const GlobalPlace&) const = default;
};
struct VarPlace {
  std::uint32_t var = 0;
  auto operator<=>(const VarPlace&) const = default;
};
// Where a pointer to a function can be.
using Place = std::variant<std::monostate, GlobalPlace, Member, VarPlace>;

class Allocators {
 public:
  Allocators(const Program& program, const Library& library)
      : program_(program), library_(library) {}

  // Does it allocate or free, and nothing else with what it is given? It may write into what
  // it has made, and tell somebody that there is no memory left.
  bool has(ProgramSymbolId id, int depth = 0) const {
    const ProgramSymbol& symbol = program_.symbol(id);
    if (!symbol.function) {
      const LibraryModel* model = library_.find(symbol.name);
      return model && is_allocator(*model);
    }
    constexpr int kDeepest = 3;
    if (depth == kDeepest) return false;
    const ProgramFunction& in = program_.functions()[symbol.function->index];
    bool found = false;
    for (const Operation& o : in.body->operations) {
      const bool writes = o.op == Op::store || o.op == Op::copy || o.op == Op::fill;
      if ((writes || o.op == Op::load) && o.a.kind() != OperandKind::var &&
          o.a.kind() != OperandKind::symbol && !(writes && is_made_in(in, o.a, depth))) {
        return false;
      }
      if (writes && o.a.kind() == OperandKind::symbol && o.pointer) return false;  // kept
      if (o.op != Op::call) continue;
      if (o.a.kind() != OperandKind::symbol) return false;
      if (has(program_.resolve(in.unit, SymbolId::of(o.a.index())), depth + 1)) {
        found = true;
      } else if (!only_says(*in.body, o)) {
        return false;
      }
    }
    return found;
  }

 private:
  // Is this the address of something in a block that the function has made?
  bool is_made_in(const ProgramFunction& in, Operand address, int depth, int steps = 0) const {
    constexpr int kMostSteps = 4;
    if (address.kind() != OperandKind::result || steps == kMostSteps) return false;
    const Operation& o = in.body->operations[address.index()];
    if (o.op == Op::offset || o.op == Op::index) return is_made_in(in, o.a, depth, steps + 1);
    if (o.op == Op::call) {
      return o.a.kind() == OperandKind::symbol &&
             has(program_.resolve(in.unit, SymbolId::of(o.a.index())), depth + 1);
    }
    if (o.op != Op::load || o.a.kind() != OperandKind::var) return false;
    bool stored = false;
    for (const Operation& store : in.body->operations) {
      if (store.op != Op::store || !(store.a == o.a)) continue;
      if (!is_made_in(in, store.b, depth, steps + 1)) return false;
      stored = true;
    }
    return stored;
  }

  // A call that is given nothing but what stands in the source.
  static bool only_says(const Function& body, const Operation& call) {
    for (std::uint32_t i = 0; i < call.pool_count; ++i) {
      const OperandKind kind = body.pool[call.pool_begin + i].kind();
      if (kind != OperandKind::integer && kind != OperandKind::symbol) return false;
    }
    return true;
  }

  const Program& program_;
  const Library& library_;
};

class Redirection {
 public:
  Redirection(Program& program, const Library& library)
      : program_(program), allocators_(program, library) {}

  void run() {
    find_initial();
    for (const ProgramFunction& each : program_.functions()) find_stored(each);
    for (std::uint32_t f = 0; f < program_.functions().size(); ++f) redirect(FunctionId::of(f));
  }

 private:
  using Functions = std::vector<ProgramSymbolId>;

  static void put(Functions& into, ProgramSymbolId id) {
    if (std::ranges::find(into, id) == into.end()) into.push_back(id);
  }

  bool is_function(ProgramSymbolId id) const {
    const ProgramSymbol& symbol = program_.symbol(id);
    return symbol.function || (symbol.declaration && !symbol.global);
  }

  void find_initial() {
    for (std::uint32_t unit = 0; unit < program_.units().size(); ++unit) {
      for (const Global& global : program_.units()[unit].globals) {
        const ProgramSymbolId variable = program_.resolve(unit, global.symbol);
        for (const Initial& each : global.initial) {
          if (!each.is_symbol || each.value != 0) continue;
          const ProgramSymbolId id = program_.resolve(unit, each.symbol);
          if (!is_function(id)) continue;
          put(globals_[{variable.index, static_cast<std::int64_t>(each.offset)}], id);
          if (each.member.record) put(members_[each.member], id);
        }
      }
    }
  }

  Place place_of(const ProgramFunction& in, Operand address) const {
    const Function& body = *in.body;
    const auto global = [&](Operand base, std::int64_t offset) -> Place {
      return GlobalPlace{program_.resolve(in.unit, SymbolId::of(base.index())).index, offset};
    };
    if (address.kind() == OperandKind::symbol) return global(address, 0);
    if (address.kind() == OperandKind::var && body.vars[address.index()].simple) {
      return VarPlace{address.index()};
    }
    if (address.kind() != OperandKind::result) return {};
    const Operation& step = body.operations[address.index()];
    if (step.op != Op::offset) return {};
    if (step.a.kind() == OperandKind::symbol) return global(step.a, step.immediate);
    if (step.type) return Member{step.type, step.immediate};
    return {};
  }

  // The functions that a value can be. Others may be passed or loaded: those are the user's.
  void functions_of(const ProgramFunction& in, Operand value, Functions& out, int depth = 0) const {
    constexpr int kDeepest = 4;
    if (value.kind() == OperandKind::symbol) {
      const ProgramSymbolId id = program_.resolve(in.unit, SymbolId::of(value.index()));
      if (is_function(id)) put(out, id);
    }
    if (value.kind() != OperandKind::result || depth == kDeepest) return;
    const Operation& o = in.body->operations[value.index()];
    if (o.op == Op::select) {
      functions_of(in, o.b, out, depth + 1);
      functions_of(in, o.c, out, depth + 1);
    } else if (o.op == Op::phi) {
      for (std::uint32_t i = 1; i < o.pool_count; i += 2) {
        functions_of(in, in.body->pool[o.pool_begin + i], out, depth + 1);
      }
    } else if (o.op == Op::load && o.a.kind() == OperandKind::var &&
               in.body->vars[o.a.index()].simple) {
      for (const Operation& store : in.body->operations) {
        if (store.op == Op::store && store.a == o.a) functions_of(in, store.b, out, depth + 1);
      }
    }
  }

  void find_stored(const ProgramFunction& in) {
    for (const Operation& o : in.body->operations) {
      if (o.op == Op::offset && o.type && o.a.kind() == OperandKind::symbol) {
        records_.try_emplace(program_.resolve(in.unit, SymbolId::of(o.a.index())).index, o.type);
      }
      if (o.op != Op::store || !o.pointer) continue;
      const Place place = place_of(in, o.a);
      const auto* global = std::get_if<GlobalPlace>(&place);
      const auto* member = std::get_if<Member>(&place);
      if (!global && !member) continue;
      Functions found;
      functions_of(in, o.b, found);
      for (const ProgramSymbolId id : found) put(global ? later_[*global] : members_[*member], id);
    }
  }

  // What a global has at first; what it is set to later when it has nothing; and what is
  // put into the member of any structure of its type by those that are given it.
  Functions functions_at(const GlobalPlace& place) const {
    if (const auto at = globals_.find(place); at != globals_.end()) return {at->second[0]};
    if (const auto at = later_.find(place); at != later_.end()) return at->second;
    const auto record = records_.find(place.symbol);
    if (record == records_.end()) return {};
    const auto at = members_.find(Member{record->second, place.offset});
    return at == members_.end() ? Functions{} : at->second;
  }

  bool are_allocators(const Functions& functions) const {
    return !functions.empty() &&
           std::ranges::all_of(functions, [&](ProgramSymbolId id) { return allocators_.has(id); });
  }

  std::optional<ProgramSymbolId> first_at(const ProgramFunction& in, Operand callee) const {
    if (callee.kind() != OperandKind::result) return {};
    const Operation& load = in.body->operations[callee.index()];
    if (load.op != Op::load) return {};
    const Place place = place_of(in, load.a);
    Functions found;
    if (const auto* global = std::get_if<GlobalPlace>(&place)) {
      found = functions_at(*global);
    } else if (const auto* member = std::get_if<Member>(&place)) {
      if (const auto at = members_.find(*member); at != members_.end()) found = at->second;
    } else if (std::holds_alternative<VarPlace>(place)) {
      functions_of(in, callee, found);
    }
    if (!are_allocators(found)) return {};
    return found[0];
  }

  bool is_called_as(ProgramSymbolId id, std::uint32_t type) const {
    const ProgramSymbol& symbol = program_.symbol(id);
    return symbol.function ? program_.functions()[symbol.function->index].body->type == type
                           : symbol.declaration->type == type;
  }

  void redirect(FunctionId id) {
    const ProgramFunction& in = program_.functions()[id.index];
    for (std::uint32_t i = 0; i < in.body->operations.size(); ++i) {
      const Operation& o = in.body->operations[i];
      if (!is_indirect_call(o)) continue;
      const std::optional<ProgramSymbolId> first = first_at(in, o.a);
      if (first && is_called_as(*first, o.type)) program_.redirect(id, i, *first);
    }
  }

  Program& program_;
  Allocators allocators_;
  std::map<GlobalPlace, Functions> globals_;
  std::map<GlobalPlace, Functions> later_;
  std::map<Member, Functions> members_;
  std::map<std::uint32_t, std::uint32_t> records_;  // of globals, by symbol
};

}  // namespace

void call_first_allocators(Program& program, const Library& library) {
  Redirection(program, library).run();
}

}  // namespace plumb::check
