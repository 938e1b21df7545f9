#include "check/model/program.h"

#include <algorithm>
#include <map>

#include "check/model/rivals.h"

namespace plumb::check {

Program::Program(std::vector<Unit> units, bool whole) : units_(std::move(units)) {
  add_symbols();
  find_written_globals();
  spread_to_rivals();
  collect_tables();
  if (whole) return;
  for (ProgramSymbol& symbol : symbols_) {
    if (symbol.global && symbol.global->linkage != Linkage::internal) symbol.written = true;
  }
}

void Program::add_symbols() {
  const Rivals rivals(units_);
  std::unordered_map<std::string_view, ProgramSymbolId> by_name;
  // Names that several units define: by the unit that is meant, or kNobody.
  constexpr std::uint32_t kNobody = ~0u;
  std::map<std::pair<std::string_view, std::uint32_t>, ProgramSymbolId> by_definer;
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    std::vector<bool> local(unit.symbols.size());
    for (const Function& f : unit.functions) local[f.symbol.index] = f.linkage == Linkage::internal;
    for (const Global& g : unit.globals) {
      if (g.linkage == Linkage::internal) local[g.symbol.index] = true;
    }
    for (const Alias& a : unit.aliases) local[a.symbol.index] = a.linkage == Linkage::internal;
    auto& map = of_unit_.emplace_back(unit.symbols.size());
    for (std::uint32_t s = 0; s < unit.symbols.size(); ++s) {
      const ProgramSymbolId fresh =
          ProgramSymbolId::of(static_cast<std::uint32_t>(symbols_.size()));
      ProgramSymbol symbol;
      symbol.name = unit.symbols[s];
      map[s] = fresh;
      if (!local[s] && rivals.has(symbol.name)) {
        const std::uint32_t definer = rivals.meant(u, symbol.name).value_or(kNobody);
        const auto [entry, is_new] = by_definer.try_emplace({unit.symbols[s], definer}, fresh);
        map[s] = entry->second;
        if (!is_new) continue;
        symbol.rival = definer == kNobody ? Rival::unknown : Rival::known;
      } else if (!local[s]) {
        const auto [entry, is_new] = by_name.try_emplace(unit.symbols[s], fresh);
        map[s] = entry->second;
        if (!is_new) continue;
      }
      symbols_.push_back(std::move(symbol));
    }
    for (const Declaration& d : unit.declarations) {
      ProgramSymbol& symbol = symbols_[map[d.symbol.index].index];
      if (!symbol.declaration) symbol.declaration = &d;
    }
    for (const Global& g : unit.globals) {
      ProgramSymbol& symbol = symbols_[map[g.symbol.index].index];
      if (!symbol.global || (g.defined && !symbol.global->defined)) {
        symbol.global = &g;
        symbol.global_unit = u;
      }
    }
    for (const SymbolId s : unit.address_taken) symbols_[map[s.index].index].address_taken = true;
  }
  // Strong definitions first, then weak ones where there is no strong one.
  for (const bool strong : {true, false}) {
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      for (Function& f : units_[u].functions) {
        if ((f.linkage != Linkage::weak) != strong) continue;
        const ProgramSymbolId id = of_unit_[u][f.symbol.index];
        ProgramSymbol& symbol = symbols_[id.index];
        if (symbol.function) continue;
        symbol.function = FunctionId::of(static_cast<std::uint32_t>(functions_.size()));
        functions_.push_back({u, &f, id});
        bodies_.push_back(&f);
      }
    }
  }
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    for (const Alias& a : units_[u].aliases) {
      ProgramSymbol& symbol = symbols_[of_unit_[u][a.symbol.index].index];
      if (!symbol.function) {
        symbol.function = symbols_[of_unit_[u][a.function.index].index].function;
      }
    }
  }
}

// A global that is only ever loaded from keeps its initial value for good.
void Program::find_written_globals() {
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    const auto touch = [&](Operand operand) {
      if (operand.kind() == OperandKind::symbol) {
        symbols_[of_unit_[u][operand.index()].index].written = true;
      }
    };
    for (const Function& f : units_[u].functions) {
      for (const Operation& o : f.operations) {
        if (o.op != Op::load && o.op != Op::offset && o.op != Op::index && o.op != Op::call &&
            o.op != Op::compare) {
          touch(o.a);
        }
        // An address that is computed with may be stored through.
        if (o.op == Op::offset || o.op == Op::index) touch(o.a);
        if (o.op != Op::compare) {
          touch(o.b);
          touch(o.c);
        }
        // A phi's pool is (block, value) pairs.
        const std::uint32_t step = o.op == Op::phi ? 2 : 1;
        if (o.op == Op::call || o.op == Op::phi) {
          for (std::uint32_t i = step - 1; i < o.pool_count; i += step) {
            touch(f.pool[o.pool_begin + i]);
          }
        }
      }
    }
    for (const Global& g : units_[u].globals) {
      for (const Initial& i : g.initial) {
        if (i.is_symbol) symbols_[of_unit_[u][i.symbol.index].index].written = true;
      }
    }
  }
}

// What a unit does to a global without our knowing which one, it may do to each.
void Program::spread_to_rivals() {
  std::unordered_map<std::string_view, const ProgramSymbol*> unknown;
  for (const ProgramSymbol& symbol : symbols_) {
    if (symbol.rival == Rival::unknown) unknown.emplace(symbol.name, &symbol);
  }
  for (ProgramSymbol& symbol : symbols_) {
    if (symbol.rival != Rival::known) continue;
    const auto any = unknown.find(symbol.name);
    if (any == unknown.end()) continue;
    symbol.written = symbol.written || any->second->written;
    symbol.address_taken = symbol.address_taken || any->second->address_taken;
  }
}

void Program::forget_definition(ProgramSymbolId id) {
  // It is a function all the same, of which nothing is promised.
  static const Declaration kForgotten = [] {
    Declaration promise;
    promise.kept_params = ~std::uint64_t{0};
    return promise;
  }();
  ProgramSymbol& symbol = symbols_[id.index];
  if (!symbol.function) return;
  symbol.function.reset();
  if (!symbol.declaration) symbol.declaration = &kForgotten;
}

FunctionId Program::add_copy(FunctionId of, Function body, std::string name) {
  const FunctionId id = FunctionId::of(static_cast<std::uint32_t>(functions_.size()));
  const ProgramSymbolId symbol = ProgramSymbolId::of(static_cast<std::uint32_t>(symbols_.size()));
  ProgramSymbol named;
  named.name = std::move(name);
  named.function = id;
  symbols_.push_back(std::move(named));
  body.linkage = Linkage::internal;  // nobody else means it
  const ProgramFunction& original = functions_[of.index];
  copies_.push_back(std::move(body));
  functions_.push_back({original.unit, &copies_.back(), symbol, of});
  bodies_.push_back(&copies_.back());
  return id;
}

SymbolId Program::symbol_in(std::uint32_t unit, ProgramSymbolId id) {
  std::vector<std::string>& names = units_[unit].symbols;
  const SymbolId next = SymbolId::of(static_cast<std::uint32_t>(names.size()));
  const auto [entry, is_new] = added_symbols_.try_emplace({unit, id}, next);
  if (is_new) {
    names.push_back(symbols_[id.index].name);
    of_unit_[unit].push_back(id);
  }
  return entry->second;
}

void Program::redirect(FunctionId caller, std::uint32_t operation, ProgramSymbolId callee) {
  const SymbolId symbol = symbol_in(functions_[caller.index].unit, callee);
  bodies_[caller.index]->operations[operation].a = Operand::of(OperandKind::symbol, symbol.index);
}

std::vector<FunctionId> Program::callees(FunctionId id) const {
  const ProgramFunction& function = functions_[id.index];
  std::vector<FunctionId> out;
  for (const Operation& o : function.body->operations) {
    if (is_virtual_call(o) && is_indirect_call(o)) {
      for (const Choice& each :
           choices(resolve(function.unit, SymbolId::of(o.b.index())), o.immediate))
        out.push_back(each.function);
      continue;
    }
    if (o.op != Op::call || o.a.kind() != OperandKind::symbol) continue;
    const auto target_of = [&](Operand operand) {
      return symbol(resolve(function.unit, SymbolId::of(operand.index()))).function;
    };
    if (const auto target = target_of(o.a)) {
      out.push_back(*target);
      continue;
    }
    // A library may call what it is given: a thread's function, a comparison.
    for (std::uint32_t i = 0; i < o.pool_count; ++i) {
      const Operand argument = function.body->pool[o.pool_begin + i];
      if (argument.kind() != OperandKind::symbol) continue;
      if (const auto target = target_of(argument)) out.push_back(*target);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::vector<FunctionId>> Program::components() const {
  const std::uint32_t count = static_cast<std::uint32_t>(functions_.size());
  std::vector<std::vector<std::uint32_t>> callees(count);
  for (std::uint32_t f = 0; f < count; ++f) {
    for (const FunctionId callee : this->callees(FunctionId::of(f))) {
      callees[f].push_back(callee.index);
    }
  }
  // Tarjan, with a stack of our own: call chains can be long.
  std::vector<std::vector<FunctionId>> out;
  std::vector<std::uint32_t> order(count, 0), low(count, 0), stack;
  std::vector<bool> on_stack(count, false);
  std::uint32_t next = 1;
  struct Visit {
    std::uint32_t node;
    std::size_t edge;
  };
  for (std::uint32_t start = 0; start < count; ++start) {
    if (order[start]) continue;
    std::vector<Visit> work{{start, 0}};
    order[start] = low[start] = next++;
    stack.push_back(start);
    on_stack[start] = true;
    while (!work.empty()) {
      const std::uint32_t node = work.back().node;
      if (work.back().edge < callees[node].size()) {
        const std::uint32_t to = callees[node][work.back().edge++];
        if (!order[to]) {
          order[to] = low[to] = next++;
          stack.push_back(to);
          on_stack[to] = true;
          work.push_back({to, 0});
        } else if (on_stack[to]) {
          low[node] = std::min(low[node], order[to]);
        }
        continue;
      }
      work.pop_back();
      if (!work.empty()) low[work.back().node] = std::min(low[work.back().node], low[node]);
      if (low[node] != order[node]) continue;
      auto& component = out.emplace_back();
      std::uint32_t member = 0;
      do {
        member = stack.back();
        stack.pop_back();
        on_stack[member] = false;
        component.push_back(FunctionId::of(member));
      } while (member != node);
      std::sort(component.begin(), component.end());
    }
  }
  return out;
}

}  // namespace plumb::check
