#include "check/model/given_functions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace plumb::check {

namespace {

using Mask = std::uint64_t;  // of parameters
constexpr std::uint32_t kMostParams = 64;
constexpr std::uint32_t kNoParam = ~0u;

// What a parameter is passed as: the function of that symbol.
using Given = std::vector<std::pair<std::uint32_t, ProgramSymbolId>>;  // by parameter

// By operation: the parameter that it loads out of its variable, or kNoParam.
class LoadedParams {
 public:
  explicit LoadedParams(const Function& body) : loads_(body.operations.size(), kNoParam) {
    constexpr std::uint32_t kOther = kNoParam - 1;
    std::vector<std::uint32_t> held(body.vars.size(), kNoParam);  // by variable
    for (const Operation& o : body.operations) {
      if (o.op != Op::store || o.a.kind() != OperandKind::var) continue;
      std::uint32_t& param = held[o.a.index()];
      const bool first = param == kNoParam && o.b.kind() == OperandKind::param;
      param = first ? o.b.index() : kOther;
    }
    for (std::uint32_t i = 0; i < body.operations.size(); ++i) {
      const Operation& o = body.operations[i];
      if (o.op != Op::load || o.a.kind() != OperandKind::var) continue;
      const std::uint32_t var = o.a.index();
      if (body.vars[var].simple && held[var] != kOther) loads_[i] = held[var];
    }
  }

  // The parameter that the operand is, or kNoParam.
  std::uint32_t of(Operand operand) const {
    if (operand.kind() == OperandKind::param) return operand.index();
    return operand.kind() == OperandKind::result ? loads_[operand.index()] : kNoParam;
  }

 private:
  std::vector<std::uint32_t> loads_;
};

class Copier {
 public:
  Copier(Program& program, const CopyLimits& limits) : program_(program), limits_(limits) {}

  void run() {
    find_called();
    left_ = limits_.all;
    for (const ProgramFunction& each : program_.functions()) left_ += each.body->operations.size();
    // Copies are functions, too: what they are given they may hand on.
    for (std::uint32_t f = 0; f < program_.functions().size(); ++f) {
      redirect_calls(FunctionId::of(f));
    }
  }

 private:
  const ProgramFunction& function(FunctionId id) const { return program_.functions()[id.index]; }

  const ProgramSymbol& symbol(const ProgramFunction& in, Operand operand) const {
    return program_.symbol(program_.resolve(in.unit, SymbolId::of(operand.index())));
  }

  // A parameter that is called, or passed on as argument `place` of a call.
  struct Passed {
    std::uint32_t param = 0;
    std::optional<FunctionId> callee;  // none: it is called itself
    std::uint32_t place = 0;
  };

  // Which parameters does each function call, or hand on to one that calls them?
  void find_called() {
    called_.assign(program_.functions().size(), 0);
    std::vector<std::vector<Passed>> passed;
    for (const ProgramFunction& each : program_.functions()) passed.push_back(passed_in(each));
    // Callees first, so that one round does but for cycles; what a long one takes more for
    // stays as it is.
    constexpr int kRounds = 8;
    const std::vector<std::vector<FunctionId>> components = program_.components();
    bool changed = true;
    for (int round = 0; changed && round < kRounds; ++round) {
      changed = false;
      for (const std::vector<FunctionId>& component : components) {
        for (const FunctionId id : component) {
          Mask now = called_[id.index];
          for (const Passed& each : passed[id.index]) {
            const bool called = !each.callee || (called_[each.callee->index] >> each.place & 1);
            if (called) now |= Mask{1} << each.param;
          }
          changed = changed || now != called_[id.index];
          called_[id.index] = now;
        }
      }
    }
  }

  std::vector<Passed> passed_in(const ProgramFunction& where) const {
    std::vector<Passed> out;
    if (where.body->params == 0) return out;
    const LoadedParams loaded(*where.body);
    const auto add = [&](Operand operand, std::optional<FunctionId> callee, std::uint32_t place) {
      const std::uint32_t param = loaded.of(operand);
      if (param < kMostParams) out.push_back({param, callee, place});
    };
    for (const Operation& o : where.body->operations) {
      if (o.op != Op::call) continue;
      if (o.a.kind() != OperandKind::symbol) {
        add(o.a, std::nullopt, 0);
        continue;
      }
      const std::optional<FunctionId> callee = symbol(where, o.a).function;
      if (!callee) continue;
      for (std::uint32_t i = 0; i < o.pool_count && i < kMostParams; ++i) {
        add(where.body->pool[o.pool_begin + i], callee, i);
      }
    }
    return out;
  }

  // The functions that the call passes by name for parameters that are called.
  Given given_at(const ProgramFunction& caller, const Operation& call, FunctionId callee) const {
    Given out;
    const Mask called = called_[callee.index];
    const std::uint32_t most =
        std::min({call.pool_count, function(callee).body->params, kMostParams});
    for (std::uint32_t i = 0; called != 0 && i < most; ++i) {
      if (!(called >> i & 1)) continue;
      const Operand passed = caller.body->pool[call.pool_begin + i];
      if (passed.kind() != OperandKind::symbol) continue;
      const ProgramSymbol& what = symbol(caller, passed);
      if (!what.function && !what.declaration) continue;
      out.emplace_back(i, program_.resolve(caller.unit, SymbolId::of(passed.index())));
    }
    return out;
  }

  void redirect_calls(FunctionId id) {
    for (std::uint32_t i = 0; i < function(id).body->operations.size(); ++i) {
      const ProgramFunction& caller = function(id);
      const Operation& o = caller.body->operations[i];
      if (o.op != Op::call || o.a.kind() != OperandKind::symbol) continue;
      const std::optional<FunctionId> target = symbol(caller, o.a).function;
      if (!target) continue;
      const FunctionId original = function(*target).copy_of.value_or(*target);
      const Given given = given_at(caller, o, original);
      if (given.empty()) continue;
      const std::optional<FunctionId> copy = copy_for(original, given);
      if (copy && *copy != *target)
        program_.redirect(id, i, program_.functions()[copy->index].symbol);
    }
  }

  std::optional<FunctionId> copy_for(FunctionId original, const Given& given) {
    const auto known = copies_.find({original, given});
    if (known != copies_.end()) return known->second;
    const Function& body = *function(original).body;
    if (body.operations.size() > limits_.operations || body.variadic) return std::nullopt;
    if (body.operations.size() > left_) return std::nullopt;
    if (++copies_of_[original] > limits_.copies) return std::nullopt;
    left_ -= body.operations.size();
    const FunctionId made =
        program_.add_copy(original, with(original, given), name(original, given));
    copies_.emplace(std::pair(original, given), made);
    return made;
  }

  // Unique, and the same in another run: a static function is named with its unit.
  std::string name(FunctionId original, const Given& given) const {
    std::string out = program_.symbol(function(original).symbol).name + '(';
    for (const auto& [param, id] : given) {
      const ProgramSymbol& what = program_.symbol(id);
      out += std::to_string(param) + '=' + what.name;
      if (what.function && function(*what.function).body->linkage == Linkage::internal) {
        out += '@' + program_.units()[function(*what.function).unit].source;
      }
      out += ' ';
    }
    out.back() = ')';
    return out;
  }

  // The body, with each parameter that is given as the function that it is.
  Function with(FunctionId original, const Given& given) {
    const std::uint32_t unit = function(original).unit;
    Function body = *function(original).body;
    const LoadedParams loaded(body);
    std::vector<Operand> known(body.params);
    for (const auto& [param, id] : given) {
      known[param] = Operand::of(OperandKind::symbol, program_.symbol_in(unit, id).index);
    }
    const auto replace = [&](Operand& operand) {
      const std::uint32_t param = loaded.of(operand);
      if (param < known.size() && known[param].kind() == OperandKind::symbol) {
        operand = known[param];
      }
    };
    for (Operation& o : body.operations) {
      replace(o.a);
      replace(o.b);
      replace(o.c);
      for (std::uint32_t i = 0; i < o.pool_count; ++i) {
        // Pairs with a block: (block, value) of a phi, (integer, block) of a switch.
        const bool is_block =
            (o.op == Op::phi && i % 2 == 0) || (o.op == Op::switch_to && i % 2 == 1);
        if (!is_block) replace(body.pool[o.pool_begin + i]);
      }
    }
    return body;
  }

  Program& program_;
  const CopyLimits& limits_;
  std::vector<Mask> called_;  // by FunctionId; of originals
  std::map<std::pair<FunctionId, Given>, FunctionId> copies_;
  std::map<FunctionId, unsigned> copies_of_;
  std::size_t left_ = 0;  // operations that may still be copied
};

}  // namespace

void copy_for_given_functions(Program& program, const CopyLimits& limits) {
  Copier(program, limits).run();
}

}  // namespace plumb::check
