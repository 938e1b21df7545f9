#include "check/model/virtual_calls.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace plumb::check {

bool is_destructor(std::string_view symbol) {
  return symbol.ends_with("D0Ev") || symbol.ends_with("D1Ev") || symbol.ends_with("D2Ev");
}

namespace {

constexpr std::string_view kNoFunction = "__cxa_pure_virtual";
constexpr std::size_t kMostChoices = 8;

// Does it do anything to what it is given?
bool does_something(const Function& body) {
  return std::ranges::any_of(body.operations, [](const Operation& o) {
    return o.op == Op::call || o.op == Op::copy || o.op == Op::fill ||
           (o.op == Op::store && o.a.kind() != OperandKind::var);
  });
}

// Does it so much as look at it?
bool looks_at_something(const Function& body) {
  return does_something(body) || std::ranges::any_of(body.operations, [](const Operation& o) {
           return o.op == Op::load && o.a.kind() != OperandKind::var;
         });
}

// Where the call leads whatever the object is.
std::optional<ProgramSymbolId> only_target(const Program& program, ProgramSymbolId type,
                                           std::int64_t place) {
  if (!program.is_closed(type)) return std::nullopt;
  std::optional<ProgramSymbolId> only;
  for (const Program::Table& table : program.tables(type)) {
    const std::optional<ProgramSymbolId> target = program.function_in(table, place);
    if (!target) return std::nullopt;
    const ProgramSymbol& symbol = program.symbol(*target);
    if (symbol.name == kNoFunction) continue;
    if (!symbol.function || (only && *only != *target)) return std::nullopt;
    only = target;
  }
  if (!only || is_destructor(program.symbol(*only).name)) return only;
  const Function& body = *program.functions()[program.symbol(*only).function->index].body;
  return does_something(body) ? only : std::nullopt;
}

}  // namespace

void Program::collect_tables() {
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    for (const ClassTable& each : units_[u].class_tables) {
      tables_[resolve(u, each.type)].push_back({resolve(u, each.table), each.offset});
    }
  }
  for (auto& [type, tables] : tables_) {
    std::ranges::sort(tables);
    const auto repeats = std::ranges::unique(tables);
    tables.erase(repeats.begin(), repeats.end());
  }
}

std::span<const Program::Table> Program::tables(ProgramSymbolId type) const {
  const auto found = tables_.find(type);
  return found == tables_.end() ? std::span<const Table>{} : found->second;
}

// The table of the class itself has its name. (A class of one unit is closed.)
bool Program::is_closed(ProgramSymbolId type) const {
  const std::string_view name = symbol(type).name;
  constexpr std::string_view kNamed = "class _ZTS";
  if (!name.starts_with(kNamed)) return true;
  return std::ranges::any_of(tables(type), [&](const Table& table) {
    const ProgramSymbol& own = symbol(table.global);
    return own.name.starts_with("_ZTV") && own.name.substr(4) == name.substr(kNamed.size()) &&
           own.global && own.global->defined;
  });
}

std::optional<ProgramSymbolId> Program::function_in(const Table& table, std::int64_t place) const {
  const ProgramSymbol& of = symbol(table.global);
  if (!of.global || !of.global->defined) return std::nullopt;
  const auto at = std::ranges::lower_bound(
      of.global->initial, table.offset + place, {},
      [](const Initial& each) { return static_cast<std::int64_t>(each.offset); });
  const bool there = at != of.global->initial.end() &&
                     static_cast<std::int64_t>(at->offset) == table.offset + place;
  if (!there || !at->is_symbol || at->value != 0) return std::nullopt;
  return resolve(of.global_unit, at->symbol);
}

// What is deleted through a base may be an object of any class that is derived from it.
std::vector<Program::Choice> Program::choices(ProgramSymbolId type, std::int64_t place) const {
  std::vector<Choice> out;
  for (const Table& table : tables(type)) {
    const std::optional<ProgramSymbolId> target = function_in(table, place);
    if (!target || !is_destructor(symbol(*target).name)) continue;
    if (out.size() == kMostChoices) return {};
    if (symbol(*target).function) out.push_back({table, *target, *symbol(*target).function});
  }
  return out;
}

std::vector<ProgramSymbolId> virtual_targets(const Program& program, ProgramSymbolId type,
                                             std::int64_t place) {
  std::vector<ProgramSymbolId> out;
  if (!program.is_closed(type)) return out;
  bool some = false;
  for (const Program::Table& table : program.tables(type)) {
    const std::optional<ProgramSymbolId> target = program.function_in(table, place);
    if (!target) return {};
    const ProgramSymbol& symbol = program.symbol(*target);
    if (symbol.name == kNoFunction || std::ranges::find(out, *target) != out.end()) continue;
    out.push_back(*target);
    some = some || (symbol.function &&
                    looks_at_something(*program.functions()[symbol.function->index].body));
  }
  return some ? out : std::vector<ProgramSymbolId>{};
}

void resolve_virtual_calls(Program& program) {
  for (std::uint32_t f = 0; f < program.functions().size(); ++f) {
    const ProgramFunction& caller = program.functions()[f];
    for (std::uint32_t i = 0; i < caller.body->operations.size(); ++i) {
      const Operation& o = caller.body->operations[i];
      if (!is_virtual_call(o) || !is_indirect_call(o)) continue;
      const ProgramSymbolId type = program.resolve(caller.unit, SymbolId::of(o.b.index()));
      const std::optional<ProgramSymbolId> target = only_target(program, type, o.immediate);
      if (target) program.redirect(FunctionId::of(f), i, *target);
    }
  }
}

}  // namespace plumb::check
