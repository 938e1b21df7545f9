#include "check/prove/inline.h"

#include <algorithm>
#include <map>
#include <optional>

namespace plumb::check {

namespace {

constexpr std::uint32_t kNoBlock = ~0u;

// An operation of the result, and the block of the function that it was copied from.
struct Placed {
  std::uint32_t operation = 0;
  std::uint32_t block = 0;
};

// By which target of which operation of the result an exception leaves a callee.
struct Leaving {
  std::uint32_t operation = 0;
  unsigned target = 0;
};

// A function of which a copy is being made.
struct Copy {
  FunctionId id;
  std::uint32_t unit = 0;
  const Function& body;
  std::vector<Operand> arguments{};  // in the result
  std::uint32_t top = 0;             // the operation of the outermost function; 0 depth: itself
  unsigned depth = 0;
  std::optional<Origin> site{};  // of this function, when it makes the block

  std::vector<std::uint32_t> vars{};         // this function's -> the result's
  std::vector<std::uint32_t> operations{};   // this function's -> the result's
  std::vector<std::uint32_t> first_block{};  // where a block begins in the result
  std::vector<std::uint32_t> last_block{};   // and where it ends
  // Where an exception comes from that a callee's body throws, when the block ends with
  // the call: a block of the result, or kNoBlock.
  std::vector<std::uint32_t> thrown_block{};
  std::vector<Placed> copied{};                              // to be translated
  std::vector<std::pair<std::uint32_t, Operand>> returns{};  // block of the result, what
  std::vector<Leaving> throws{};
};

class Inliner {
 public:
  Inliner(const Program& program, const std::vector<Summary>& summaries, const InlineLimits& limits,
          Reads* reads)
      : program_(program, reads), summaries_(summaries), limits_(limits), reads_(reads) {}

  Inlined run(FunctionId function, const Origin& site) {
    Copy top{.id = function,
             .unit = program_.function(function).unit,
             .body = *program_.function(function).body,
             .site = site};
    const Function& from = top.body;
    out_.body.symbol = from.symbol;
    out_.body.display = from.display;
    out_.body.returns_pointer = from.returns_pointer;
    out_.body.return_width = from.return_width;
    out_.body.params = from.params;
    out_.body.location = from.location;
    out_.site = site;
    for (std::uint32_t i = 0; i < from.params; ++i) {
      top.arguments.push_back(Operand::of(OperandKind::param, i));
    }
    planned_ = from.operations.size();
    copy(top);
    return std::move(out_);
  }

 private:
  Function& body() { return out_.body; }
  std::uint32_t next() { return static_cast<std::uint32_t>(out_.body.operations.size()); }

  std::uint32_t emit(const Operation& operation, const Copy& from, std::uint32_t index) {
    out_.body.operations.push_back(operation);
    out_.top.push_back(from.depth == 0 ? index : from.top);
    out_.own.push_back(from.depth == 0);
    return next() - 1;
  }

  void open_block() { body().blocks.push_back({next(), next()}); }
  void close_block() { body().blocks.back().end = next(); }
  std::uint32_t block() { return static_cast<std::uint32_t>(body().blocks.size() - 1); }

  bool calls_itself(FunctionId id) {
    const std::uint32_t unit = program_.function(id).unit;
    const Function& callee = *program_.function(id).body;
    return std::ranges::any_of(callee.operations, [&](const Operation& o) {
      if (o.op != Op::call || o.a.kind() != OperandKind::symbol) return false;
      const ProgramSymbolId called = program_.resolve(unit, SymbolId::of(o.a.index()));
      return program_.symbol(called).function == id;
    });
  }

  // A choice of two numbers or the like: what it answers for what is the whole of it, and a
  // summary says that of no more than the sign.
  bool only_answers(FunctionId id) {
    constexpr std::size_t kMost = 24;
    if (reads_) reads_->summaries.add(id.index);
    const Summary& summary = summaries_[id.index];
    const std::vector<Operation>& operations = program_.function(id).body->operations;
    return summary.inputs.empty() && summary.blocks.empty() && summary.effect.writes.empty() &&
           operations.size() <= kMost &&
           std::ranges::find(operations, Op::call, &Operation::op) == operations.end();
  }

  // The callee, if its body is to stand in place of the call.
  std::optional<FunctionId> chosen(const Copy& from, const Operation& o, bool makes) {
    if (o.op != Op::call || o.a.kind() != OperandKind::symbol) return std::nullopt;
    const ProgramSymbol& symbol =
        program_.symbol(program_.resolve(from.unit, SymbolId::of(o.a.index())));
    if (!symbol.function) return std::nullopt;
    const FunctionId id = *symbol.function;
    const bool deep = from.depth >= limits_.depth;
    if (deep && (from.depth > limits_.depth || !only_answers(id))) return std::nullopt;
    if (std::find(stack_.begin(), stack_.end(), id.index) != stack_.end()) return std::nullopt;
    if (reads_) reads_->summaries.add(id.index);
    const Summary& summary = summaries_[id.index];
    const Function& callee = *program_.function(id).body;
    if (callee.variadic || callee.blocks.empty()) return std::nullopt;
    if (!summary.known || !summary.effect.returns || callee.params != o.pool_count)
      return std::nullopt;
    const bool matters =
        !summary.inputs.empty() || !summary.blocks.empty() || !summary.effect.writes.empty();
    const std::size_t most = makes ? limits_.maker : matters ? limits_.callee : limits_.other;
    if (callee.operations.size() > most) return std::nullopt;
    // It may have got the block by calling itself.
    if (makes && calls_itself(id)) return std::nullopt;
    if (planned_ + callee.operations.size() > limits_.total) {
      out_.full = true;
      return std::nullopt;
    }
    planned_ += callee.operations.size();
    return id;
  }

  void copy(Copy& from) {
    stack_.push_back(from.id.index);
    const Function& body_from = from.body;
    for (const Var& var : body_from.vars) {
      from.vars.push_back(static_cast<std::uint32_t>(body().vars.size()));
      body().vars.push_back(var);
    }
    from.operations.assign(body_from.operations.size(), 0);
    from.first_block.assign(body_from.blocks.size(), 0);
    from.last_block.assign(body_from.blocks.size(), 0);
    from.thrown_block.assign(body_from.blocks.size(), kNoBlock);
    for (std::uint32_t b = 0; b < body_from.blocks.size(); ++b) {
      open_block();
      from.first_block[b] = block();
      const Block& range = body_from.blocks[b];
      for (std::uint32_t i = range.begin; i < range.end; ++i) copy_operation(from, b, i);
      close_block();
      from.last_block[b] = block();
    }
    for (const Placed& each : from.copied) translate(from, each);
    stack_.pop_back();
  }

  void copy_operation(Copy& from, std::uint32_t in, std::uint32_t index) {
    const Operation& o = from.body.operations[index];
    const bool makes = from.site && from.site->operation == index;
    const bool asked =
        from.depth > 0 || limits_.only.empty() || std::ranges::binary_search(limits_.only, index);
    const std::optional<FunctionId> callee =
        asked ? chosen(from, o, makes && from.site->callee != Origin::kNone) : std::nullopt;
    if (callee) {
      const bool is_maker = makes && callee->index == from.site->callee;
      if (!makes || is_maker) {
        replace(from, in, index, *callee, is_maker);
        return;
      }
    }
    if (makes) out_.site = {from.id.index, next(), from.site->callee, from.site->inner};
    if (o.op == Op::returns && from.depth > 0) {
      from.returns.emplace_back(block(), o.width ? operand(from, o.a) : Operand{});
      end_variables(from, index, o.location);
      jump(from, index, o.location);
      return;
    }
    if (o.op == Op::resume && from.depth > 0) {
      from.throws.push_back({jump(from, index, o.location), 0});
      return;
    }
    from.operations[index] = emit(o, from, index);
    from.copied.push_back({from.operations[index], in});
    const bool last = index + 1 == from.body.blocks[in].end;
    if (from.depth > 0 && !last && from.body.operations[index + 1].op != Op::invoke_end &&
        may_throw(from, o)) {
      split_after_call(from, index);
    }
  }

  // As the run has it: what is only declared throws when it does not come back.
  bool may_throw(const Copy& from, const Operation& o) {
    if (o.op != Op::call || o.nounwind) return false;
    if (o.a.kind() != OperandKind::symbol) return true;
    const ProgramSymbol& symbol =
        program_.symbol(program_.resolve(from.unit, SymbolId::of(o.a.index())));
    if (!symbol.function) return o.noreturn || (symbol.declaration && symbol.declaration->noreturn);
    if (reads_) reads_->summaries.add(symbol.function->index);
    const Summary& summary = summaries_[symbol.function->index];
    return !summary.known || !summary.effect.returns || !summary.effect.throws.empty();
  }

  // A call of a callee that nothing there is prepared for: what it throws leaves the callee,
  // not the outermost function.
  void split_after_call(Copy& from, std::uint32_t index) {
    Operation end;
    end.op = Op::invoke_end;
    end.targets[0] = BlockIndex::of(block() + 1);
    end.location = from.body.operations[index].location;
    from.throws.push_back({emit(end, from, index), 1});
    close_block();
    open_block();
  }

  void end_variables(const Copy& from, std::uint32_t index, const Location& location) {
    for (const std::uint32_t var : from.vars) {
      Operation end;
      end.op = Op::scope_end;
      end.a = Operand::of(OperandKind::var, var);
      end.location = location;
      emit(end, from, index);
    }
  }

  // To be filled in.
  std::uint32_t jump(const Copy& from, std::uint32_t index, const Location& location) {
    Operation jump;
    jump.op = Op::jump;
    jump.location = location;
    return emit(jump, from, index);
  }

  // What the callee throws arrives in a block of its own: its variables end there, and the
  // exception goes to where the call sends it, or else leaves the caller too.
  void pass_on(Copy& from, std::uint32_t in, std::uint32_t index, const Copy& inner) {
    if (inner.throws.empty()) return;
    const Location& location = from.body.operations[index].location;
    open_block();
    for (const auto& [operation, target] : inner.throws) {
      body().operations[operation].targets[target] = BlockIndex::of(block());
    }
    end_variables(inner, index, location);
    if (from.body.operations[index + 1].op == Op::invoke_end) {
      const std::uint32_t last = jump(inner, index, location);
      body().operations[last].targets[0] = from.body.operations[index + 1].targets[1];
      from.copied.push_back({last, in});
      from.thrown_block[in] = block();
    } else if (from.depth > 0) {
      from.throws.push_back({jump(inner, index, location), 0});
    } else {
      Operation out;
      out.op = Op::resume;
      out.location = location;
      emit(out, inner, index);
    }
    close_block();
  }

  void replace(Copy& from, std::uint32_t in, std::uint32_t index, FunctionId callee, bool makes) {
    const Operation& call = from.body.operations[index];
    Copy inner{.id = callee,
               .unit = program_.function(callee).unit,
               .body = *program_.function(callee).body,
               .top = from.depth == 0 ? index : from.top,
               .depth = from.depth + 1};
    for (std::uint32_t i = 0; i < call.pool_count; ++i) {
      inner.arguments.push_back(operand(from, from.body.pool[call.pool_begin + i]));
    }
    if (makes) inner.site = summaries_[callee.index].blocks[from.site->inner].origin;
    ++out_.calls;
    Operation enter;
    enter.op = Op::jump;
    enter.targets[0] = BlockIndex::of(block() + 1);
    enter.location = call.location;
    emit(enter, inner, index);
    close_block();
    copy(inner);
    pass_on(from, in, index, inner);
    open_block();
    for (const auto& [returning, what] : inner.returns) {
      body().operations[body().blocks[returning].end - 1].targets[0] = BlockIndex::of(block());
    }
    if (call.width == 0) return;
    Operation phi;
    phi.op = Op::phi;
    phi.width = call.width;
    phi.location = call.location;
    phi.pool_begin = static_cast<std::uint32_t>(body().pool.size());
    for (const auto& [returning, what] : inner.returns) {
      body().pool.push_back({returning});
      body().pool.push_back(what);
    }
    phi.pool_count = static_cast<std::uint32_t>(body().pool.size()) - phi.pool_begin;
    from.operations[index] = emit(phi, inner, index);
  }

  // Of operations that come before in the source's order; others: translate().
  Operand operand(const Copy& from, Operand what) {
    switch (what.kind()) {
      case OperandKind::result:
        return Operand::of(OperandKind::result, from.operations[what.index()]);
      case OperandKind::param:
        return what.index() < from.arguments.size() ? from.arguments[what.index()] : Operand{};
      case OperandKind::integer: {
        const std::int64_t number = from.body.integers[what.index()];
        const auto [entry, fresh] =
            integers_.try_emplace(number, static_cast<std::uint32_t>(body().integers.size()));
        if (fresh) body().integers.push_back(number);
        return Operand::of(OperandKind::integer, entry->second);
      }
      case OperandKind::symbol:
        return Operand::of(OperandKind::symbol,
                           program_.resolve(from.unit, SymbolId::of(what.index())).index);
      case OperandKind::var:
        return Operand::of(OperandKind::var, from.vars[what.index()]);
      case OperandKind::unknown:
        break;
    }
    return what;
  }

  // All blocks and operations of the function have their place now.
  void translate(const Copy& from, const Placed& placed) {
    Operation o = body().operations[placed.operation];
    o.a = operand(from, o.a);
    o.b = operand(from, o.b);
    o.c = operand(from, o.c);
    for (BlockIndex& target : o.targets) {
      if (target.index < from.first_block.size()) {
        target = BlockIndex::of(from.first_block[target.index]);
      }
    }
    const std::uint32_t begin = o.pool_begin;
    o.pool_begin = static_cast<std::uint32_t>(body().pool.size());
    for (std::uint32_t i = 0; i < o.pool_count; ++i) {
      const Operand what = from.body.pool[begin + i];
      if (o.op == Op::phi && i % 2 == 0) {
        body().pool.push_back({came_from(from, what.bits, placed.block)});
      } else if (o.op == Op::switch_to && i % 2 == 1) {
        body().pool.push_back({from.first_block[what.bits]});
      } else {
        body().pool.push_back(operand(from, what));
      }
    }
    body().operations[placed.operation] = o;
  }

  // The block of the result that leads from the one block of the function to the other.
  static std::uint32_t came_from(const Copy& from, std::uint32_t before, std::uint32_t to) {
    const Operation& last = from.body.operations[from.body.blocks[before].end - 1];
    const bool thrown = last.op == Op::invoke_end && last.targets[1].index == to &&
                        from.thrown_block[before] != kNoBlock;
    return thrown ? from.thrown_block[before] : from.last_block[before];
  }

  const ProgramView program_;
  const std::vector<Summary>& summaries_;
  const InlineLimits& limits_;
  Reads* const reads_;
  Inlined out_;
  std::vector<std::uint32_t> stack_;
  std::map<std::int64_t, std::uint32_t> integers_;
  std::size_t planned_ = 0;
};

}  // namespace

Inlined inline_callees(const Program& program, const std::vector<Summary>& summaries,
                       FunctionId function, const Origin& site, const InlineLimits& limits,
                       Reads* reads) {
  return Inliner(program, summaries, limits, reads).run(function, site);
}

}  // namespace plumb::check
