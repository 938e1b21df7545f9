#include "check/prove/inline.h"

#include <algorithm>
#include <map>
#include <optional>

namespace plumb::check {

namespace {

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
  std::vector<std::uint32_t> copied{};       // operations of the result to be translated
  std::vector<std::pair<std::uint32_t, Operand>> returns{};  // block of the result, what
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

  // The callee, if its body is to stand in place of the call.
  std::optional<FunctionId> chosen(const Copy& from, const Operation& o, bool makes) {
    if (o.op != Op::call || o.a.kind() != OperandKind::symbol) return std::nullopt;
    const ProgramSymbol& symbol =
        program_.symbol(program_.resolve(from.unit, SymbolId::of(o.a.index())));
    if (!symbol.function || from.depth >= limits_.depth) return std::nullopt;
    const FunctionId id = *symbol.function;
    if (std::find(stack_.begin(), stack_.end(), id.index) != stack_.end()) return std::nullopt;
    if (reads_) reads_->summaries.add(id.index);
    const Summary& summary = summaries_[id.index];
    const Function& callee = *program_.function(id).body;
    if (callee.variadic || !summary.effect.throws.empty() || callee.blocks.empty())
      return std::nullopt;
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
    for (std::uint32_t b = 0; b < body_from.blocks.size(); ++b) {
      open_block();
      from.first_block[b] = block();
      const Block& range = body_from.blocks[b];
      for (std::uint32_t i = range.begin; i < range.end; ++i) copy_operation(from, i);
      close_block();
      from.last_block[b] = block();
    }
    for (const std::uint32_t index : from.copied) translate(from, index);
    stack_.pop_back();
  }

  void copy_operation(Copy& from, std::uint32_t index) {
    const Operation& o = from.body.operations[index];
    const bool makes = from.site && from.site->operation == index;
    const bool asked =
        from.depth > 0 || limits_.only.empty() || std::ranges::binary_search(limits_.only, index);
    const std::optional<FunctionId> callee =
        asked ? chosen(from, o, makes && from.site->callee != Origin::kNone) : std::nullopt;
    if (callee) {
      const bool is_maker = makes && callee->index == from.site->callee;
      if (!makes || is_maker) {
        replace(from, index, *callee, is_maker);
        return;
      }
    }
    if (makes) out_.site = {from.id.index, next(), from.site->callee, from.site->inner};
    if (o.op == Op::returns && from.depth > 0) {
      leave(from, index);
      return;
    }
    from.operations[index] = emit(o, from, index);
    from.copied.push_back(from.operations[index]);
  }

  // The variables end, and the caller goes on; the target is filled in by replace().
  void leave(Copy& from, std::uint32_t index) {
    const Operation& o = from.body.operations[index];
    from.returns.emplace_back(block(), o.width ? operand(from, o.a) : Operand{});
    for (const std::uint32_t var : from.vars) {
      Operation end;
      end.op = Op::scope_end;
      end.a = Operand::of(OperandKind::var, var);
      end.location = o.location;
      emit(end, from, index);
    }
    Operation jump;
    jump.op = Op::jump;
    jump.location = o.location;
    emit(jump, from, index);
  }

  void replace(Copy& from, std::uint32_t index, FunctionId callee, bool makes) {
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
  void translate(const Copy& from, std::uint32_t index) {
    Operation o = body().operations[index];
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
        body().pool.push_back({from.last_block[what.bits]});
      } else if (o.op == Op::switch_to && i % 2 == 1) {
        body().pool.push_back({from.first_block[what.bits]});
      } else {
        body().pool.push_back(operand(from, what));
      }
    }
    body().operations[index] = o;
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
