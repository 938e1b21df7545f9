#include "check/summary/identity.h"

#include <xxhash.h>

#include "base/archive.h"
#include "base/parallel.h"

namespace plumb::check {

namespace {

std::uint64_t hash_of(const ArchiveWriter& writer) {
  return XXH3_64bits(writer.bytes.data(), writer.bytes.size());
}

// What the unit calls the parts of its types: findings name places by them.
std::uint64_t types_of(const Unit& unit) {
  ArchiveWriter out;
  for (const Type& type : unit.types) {
    out(type.shape, type.target, type.size);
    for (const Field& field : type.fields) out(field.name, field.offset, field.type);
  }
  return hash_of(out);
}

// The unit of a symbol that no other unit sees, or of which there are several.
std::optional<std::uint32_t> own_unit(const Program& program, const ProgramSymbol& symbol) {
  const bool rival = symbol.rival == Rival::known;
  if (symbol.function) {
    const ProgramFunction& function = program.functions()[symbol.function->index];
    if (function.body->linkage == Linkage::internal || rival) return function.unit;
  }
  if (symbol.global && (symbol.global->linkage == Linkage::internal || rival)) {
    return symbol.global_unit;
  }
  return std::nullopt;
}

}  // namespace

Identities::Identities(const Program& program, const std::vector<std::string>& units,
                       unsigned threads)
    : program_(program) {
  name_symbols(units);
  facts_.resize(program.symbols());
  bodies_.resize(program.functions().size());
  for (const Unit& unit : program.units()) {
    types_.push_back(types_of(unit));
    std::vector<const Global*>& globals = globals_.emplace_back(unit.symbols.size());
    for (const Global& global : unit.globals) globals[global.symbol.index] = &global;
  }
  constexpr std::size_t kAtOnce = 256;
  const auto all = [&](std::size_t count, const auto& work) {
    in_parallel((count + kAtOnce - 1) / kAtOnce, threads, [&](std::size_t part) {
      for (std::size_t i = part * kAtOnce; i < std::min(count, (part + 1) * kAtOnce); ++i) work(i);
    });
  };
  all(facts_.size(), [&](std::size_t i) {
    facts_[i] = facts_of(program.symbol(ProgramSymbolId::of(static_cast<std::uint32_t>(i))));
  });
  all(bodies_.size(), [&](std::size_t i) { bodies_[i] = body_of(program.functions()[i]); });
}

void Identities::name_symbols(const std::vector<std::string>& units) {
  symbols_.resize(program_.symbols());
  by_identity_.reserve(symbols_.size());
  for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
    const ProgramSymbol& symbol = program_.symbol(ProgramSymbolId::of(i));
    std::uint64_t identity = XXH3_64bits(symbol.name.data(), symbol.name.size());
    if (const std::optional<std::uint32_t> unit = own_unit(program_, symbol)) {
      identity = XXH3_64bits_withSeed(units[*unit].data(), units[*unit].size(), identity);
    }
    symbols_[i] = identity;
    const auto [entry, fresh] = by_identity_.try_emplace(identity, i);
    if (!fresh) entry->second = kSeveral;
  }
}

std::optional<ProgramSymbolId> Identities::find_symbol(std::uint64_t identity) const {
  const auto found = by_identity_.find(identity);
  if (found == by_identity_.end() || found->second == kSeveral) return std::nullopt;
  return ProgramSymbolId::of(found->second);
}

std::optional<FunctionId> Identities::find_function(std::uint64_t identity) const {
  const std::optional<ProgramSymbolId> symbol = find_symbol(identity);
  return symbol ? program_.symbol(*symbol).function : std::nullopt;
}

std::uint64_t Identities::facts_of(const ProgramSymbol& symbol) const {
  ArchiveWriter out;
  out(symbol.written, symbol.address_taken, symbol.function.has_value(),
      symbol.declaration != nullptr, symbol.global != nullptr);
  if (symbol.function) {
    const ProgramFunction& function = program_.functions()[symbol.function->index];
    const Function& body = *function.body;
    // An alias has the name of what it stands for.
    out(symbols_[function.symbol.index], body.linkage, body.noreturn, body.variadic,
        body.returns_pointer, body.return_width, body.params, body.type);
  }
  if (const Declaration* declared = symbol.declaration) {
    out(declared->noreturn, declared->allocates, declared->const_params, declared->kept_params,
        declared->number_params, declared->type);
  }
  if (const Global* global = symbol.global) {
    out(global->linkage, global->constant, global->thread_local_storage, global->defined,
        global->size);
    for (const Initial& each : global->initial) {
      out(each.offset, each.width, each.is_symbol, each.value);
      if (each.is_symbol) {
        out(symbols_[program_.resolve(symbol.global_unit, each.symbol).index]);
      }
    }
  }
  return hash_of(out);
}

std::uint64_t Identities::body_of(const ProgramFunction& function) const {
  const Function& body = *function.body;
  ArchiveWriter out;
  out(symbols_[function.symbol.index], body.display, body.linkage, body.noreturn, body.variadic,
      body.returns_pointer, body.return_width, body.params, body.type, body.integers, body.blocks);
  out(types_[function.unit], body.result_shape);
  for (const Var& var : body.vars) {
    out(var.name, var.type, var.shape, var.size, var.simple, var.parameter);
  }
  // The unit's numbers of symbols say nothing in another version of the unit.
  const auto put = [&](Operand operand) {
    if (operand.kind() != OperandKind::symbol) {
      out(operand);
      return;
    }
    out(Operand::of(OperandKind::symbol, 0),
        symbols_[program_.resolve(function.unit, SymbolId::of(operand.index())).index]);
    // Places are named by it, and a finding says the name of a place.
    if (const Global* global = globals_[function.unit][operand.index()]) {
      out(global->display, global->shape);
    }
  };
  for (const Operation& o : body.operations) {
    Operation plain = o;
    plain.a = plain.b = plain.c = {};
    plain.location = {};
    plain.location.line = o.location.line != 0;  // what has no line is not of the source
    out(plain);
    if (is_indirect_call(o)) {
      const Left left = program_.left_alone(o.type);
      out(left.alone, left.spared);
    }
    if (is_virtual_call(o) && is_indirect_call(o)) {
      const ProgramSymbolId type = program_.resolve(function.unit, SymbolId::of(o.b.index()));
      const Left left = program_.left_alone(type, o.immediate);
      out(left.alone, left.spared);
      for (const Program::Choice& each : program_.choices(type, o.immediate)) {
        out(symbols_[each.table.global.index], each.table.offset, symbols_[each.symbol.index]);
      }
    }
    put(o.a);
    put(o.b);
    put(o.c);
    for (std::uint32_t i = 0; i < o.pool_count; ++i) {
      const Operand each = body.pool[o.pool_begin + i];
      const bool is_block =
          (o.op == Op::phi && i % 2 == 0) || (o.op == Op::switch_to && i % 2 == 1);
      if (is_block) {
        out(each.bits);
      } else {
        put(each);
      }
    }
  }
  return hash_of(out);
}

}  // namespace plumb::check
