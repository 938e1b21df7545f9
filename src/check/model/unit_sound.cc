#include "check/model/unit_sound.h"

#include <algorithm>
#include <cstring>

namespace plumb::check {

namespace {

// Any other byte in a bool would be undefined behaviour.
bool is_bool(const bool& value) {
  unsigned char byte = 0;
  std::memcpy(&byte, &value, 1);
  return byte <= 1;
}

bool ends_block(Op op) { return op >= Op::jump; }

class FunctionCheck {
 public:
  FunctionCheck(const Unit& unit, const Function& function) : unit_(unit), function_(function) {}

  bool good() const {
    return function_.symbol.index < unit_.symbols.size() &&
           function_.linkage <= Linkage::internal && location(function_.location) &&
           std::ranges::all_of(
               function_.vars, [&](const Var& var) { return location(var.location); }) &&
           blocks() &&
           std::ranges::all_of(
               function_.operations, [&](const Operation& o) { return operation(o); });
  }

 private:
  bool location(const Location& at) const { return at.file.index < unit_.files.size(); }
  bool block(std::uint32_t index) const { return index < function_.blocks.size(); }

  // They lie one after the other, and each ends with the only operation that leaves it.
  bool blocks() const {
    std::uint32_t next = 0;
    for (const Block& each : function_.blocks) {
      if (each.begin != next || each.end <= each.begin) return false;
      if (each.end > function_.operations.size()) return false;
      for (std::uint32_t i = each.begin; i < each.end; ++i) {
        if (ends_block(function_.operations[i].op) != (i + 1 == each.end)) return false;
      }
      next = each.end;
    }
    return next == function_.operations.size() && !function_.blocks.empty();
  }

  bool operand(Operand what) const {
    switch (what.kind()) {
      case OperandKind::unknown:
      case OperandKind::param:
        return true;
      case OperandKind::result:
        return what.index() < function_.operations.size();
      case OperandKind::integer:
        return what.index() < function_.integers.size();
      case OperandKind::symbol:
        return what.index() < unit_.symbols.size();
      case OperandKind::var:
        return what.index() < function_.vars.size();
    }
    return false;
  }

  bool pool(const Operation& o) const {
    if (o.pool_begin > function_.pool.size()) return false;
    if (o.pool_count > function_.pool.size() - o.pool_begin) return false;
    const bool pairs = o.op == Op::phi || o.op == Op::switch_to;
    if (pairs && o.pool_count % 2) return false;
    const std::uint32_t blocks_at = o.op == Op::phi ? 0 : o.op == Op::switch_to ? 1 : 2;
    for (std::uint32_t i = 0; i < o.pool_count; ++i) {
      const Operand each = function_.pool[o.pool_begin + i];
      if (i % 2 == blocks_at ? !block(each.bits) : !operand(each)) return false;
      if (o.op == Op::switch_to && i % 2 == 0 && each.kind() != OperandKind::integer) return false;
    }
    return true;
  }

  bool targets(const Operation& o) const {
    const bool two = o.op == Op::branch || o.op == Op::invoke_end;
    const bool one = two || o.op == Op::jump || o.op == Op::switch_to;
    return (!one || block(o.targets[0].index)) && (!two || block(o.targets[1].index));
  }

  bool operation(const Operation& o) const {
    return o.op <= Op::resume && o.code <= Code::same && is_bool(o.pointer) &&
           is_bool(o.noreturn) && is_bool(o.nounwind) && is_bool(o.varargs) && operand(o.a) &&
           operand(o.b) && operand(o.c) && pool(o) && targets(o) && location(o.location) &&
           (o.op != Op::scope_end || o.a.kind() == OperandKind::var);
  }

  const Unit& unit_;
  const Function& function_;
};

}  // namespace

bool is_sound(const Unit& unit) {
  const auto symbol = [&](SymbolId id) { return id.index < unit.symbols.size(); };
  return std::ranges::all_of(unit.functions,
                             [&](const Function& f) { return FunctionCheck(unit, f).good(); }) &&
         std::ranges::all_of(unit.globals,
                             [&](const Global& g) {
                               return symbol(g.symbol) && g.linkage <= Linkage::internal &&
                                      std::ranges::all_of(g.initial, [&](const Initial& each) {
                                        return !each.is_symbol || symbol(each.symbol);
                                      });
                             }) &&
         std::ranges::all_of(unit.declarations,
                             [&](const Declaration& d) { return symbol(d.symbol); }) &&
         std::ranges::all_of(unit.aliases,
                             [&](const Alias& a) {
                               return symbol(a.symbol) && symbol(a.function) &&
                                      a.linkage <= Linkage::internal;
                             }) &&
         std::ranges::all_of(
             unit.class_tables,
             [&](const ClassTable& t) { return symbol(t.type) && symbol(t.table); }) &&
         std::ranges::all_of(unit.address_taken, symbol);
}

}  // namespace plumb::check
