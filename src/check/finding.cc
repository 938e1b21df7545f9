#include "check/finding.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/source.h"
#include "check/condition_text.h"
#include "check/prove/certainty.h"
#include "check/summary/shape.h"
#include "check/summary_graph.h"
#include "core/allocator_names.h"

namespace plumb::check {

namespace {

// Of a path that was not proved (what was: see certainty.h): the solver could not decide; or
// none was found before the budget ended, though merged states say that there is one.
constexpr double kPathUndecided = 0.4;
constexpr double kPathUnseen = 0.3;
// In a global: nothing is lost, so there is no path to replay.
constexpr double kParked = 0.6;
constexpr std::size_t kMostSummaries = 6;  // of one finding

class Writer {
 public:
  Writer(const Program& program, const Library& library, const std::vector<Summary>& summaries)
      : program_(program), library_(library), summaries_(summaries) {}

  Leak leak(const Candidate& candidate) const;
  // Innermost first.
  std::vector<Origin> chain(const Candidate& candidate) const;
  // What is lost with the block, since the block holds it.
  void add_indirect(const Candidate& candidate, const std::vector<Candidate>& indirect,
                    Leak& leak) const;
  // Did it take the place of a smaller one, in the same variable? It was reallocated, or
  // the call leaves it in memory by itself.
  bool is_grown(const Candidate& candidate) const;
  // Is there a path that makes both, in one function? Not in two branches.
  bool follow(const Candidate& one, const Candidate& other) const;
  // Where the call that made the block leaves it: the offset of the place, or -1
  // for the result.
  std::int64_t left_at(const Candidate& candidate) const;

 private:
  const Function& body(std::uint32_t function) const {
    return *program_.functions()[function].body;
  }
  Frame frame(std::uint32_t function, const Location& at) const;
  std::string callee_name(std::uint32_t function, const Operation& call) const;
  std::string resource_of(std::uint32_t function, const Operation& call) const;
  std::vector<Step> path(const Candidate& candidate) const;
  const Operation& place(const Candidate& candidate) const;
  // What the functions do that are called on the path.
  void add_last_use(const Candidate& candidate, Leak& leak) const;
  std::vector<plumb::Summary> summaries_on(const Candidate& candidate) const;

  // `// plumb: ignore` where the block is allocated, or where it is lost.
  std::optional<Suppressed> ignored(const Leak& leak) const;

  const Program& program_;
  const Library& library_;
  const std::vector<Summary>& summaries_;
  mutable SourceCache sources_;
};

Frame Writer::frame(std::uint32_t function, const Location& at) const {
  const ProgramFunction& where = program_.functions()[function];
  Frame out;
  out.function = where.body->display;
  const ProgramFunction& original =
      where.copy_of ? program_.functions()[where.copy_of->index] : where;
  const std::string& symbol = program_.symbol(original.symbol).name;
  if (symbol != out.function) out.linkage = symbol;
  out.file = program_.file(where.unit, at.file);
  if (at.line) out.line = at.line;
  if (at.column) out.column = at.column;
  if (where.body->location.line) out.function_line = where.body->location.line;
  return out;
}

std::vector<Origin> Writer::chain(const Candidate& candidate) const {
  std::vector<Origin> chain{candidate.origin};
  while (chain.back().callee != Origin::kNone) {
    const Summary& summary = summaries_[chain.back().callee];
    if (chain.back().inner >= summary.blocks.size() || chain.size() > 64) break;
    chain.push_back(summary.blocks[chain.back().inner].origin);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

void Writer::add_indirect(const Candidate& candidate, const std::vector<Candidate>& indirect,
                          Leak& leak) const {
  constexpr std::size_t kMost = 8;
  std::set<std::pair<std::uint32_t, std::uint32_t>> said;
  for (const Candidate& each : indirect) {
    // Which of the callee's blocks holds it is not told: the call that made the holder is.
    const bool held = each.function == candidate.function &&
                      each.held_by.operation == candidate.origin.operation &&
                      each.held_by.callee == candidate.origin.callee;
    if (!held || place(each).location.line != place(candidate).location.line) continue;
    // Where this function gets it; what comes with the holder, one call further down.
    const std::vector<Origin> calls = chain(each);
    const bool together = each.origin.operation == candidate.origin.operation && calls.size() > 1;
    const Origin& made = together ? calls[calls.size() - 2] : calls.back();
    if (said.size() == kMost || !said.emplace(made.function, made.operation).second) continue;
    const Operation& o = body(made.function).operations[made.operation];
    Step step;
    step.location = frame(made.function, o.location);
    step.event = "holds";
    step.text =
        fmt::format("what {} allocates here is lost with it", callee_name(made.function, o));
    leak.path.insert(leak.path.end() - 1, std::move(step));
  }
}

std::int64_t Writer::left_at(const Candidate& candidate) const {
  if (candidate.origin.callee == Origin::kNone) return -1;
  const Summary& summary = summaries_[candidate.origin.callee];
  if (candidate.origin.inner >= summary.blocks.size()) return -1;
  const std::vector<Case>& cases = summary.blocks[candidate.origin.inner].cases;
  return cases.empty() || cases[0].holders.empty() ? -1 : cases[0].holders[0].offset;
}

bool Writer::is_grown(const Candidate& candidate) const {
  const Origin made = chain(candidate).front();
  const Operation& call = body(made.function).operations[made.operation];
  if (candidate.holder.empty() || call.a.kind() != OperandKind::symbol) return false;
  const LibraryModel* model = library_.find(callee_name(made.function, call));
  return (model && model->reallocates >= 0) || left_at(candidate) >= 0;
}

bool Writer::follow(const Candidate& one, const Candidate& other) const {
  const Function& in = body(one.function);
  const Shape shape(in);
  const auto reaches = [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t first = shape.block_of[from];
    const std::uint32_t last = shape.block_of[to];
    return shape.distances(in, {last})[first] != UINT32_MAX;
  };
  const std::uint32_t a = one.origin.operation;
  const std::uint32_t b = other.origin.operation;
  return reaches(a, b) || reaches(b, a);
}

std::string Writer::callee_name(std::uint32_t function, const Operation& call) const {
  if (call.a.kind() != OperandKind::symbol) return "a function pointer";
  const ProgramFunction& where = program_.functions()[function];
  const ProgramSymbol& symbol =
      program_.symbol(program_.resolve(where.unit, SymbolId::of(call.a.index())));
  return symbol.function ? body(symbol.function->index).display : symbol.name;
}

// "memory", or what else the called function gives.
std::string Writer::resource_of(std::uint32_t function, const Operation& call) const {
  constexpr const char* kMemory = "memory";
  if (call.a.kind() != OperandKind::symbol) return kMemory;
  const ProgramFunction& where = program_.functions()[function];
  const ProgramSymbol& symbol =
      program_.symbol(program_.resolve(where.unit, SymbolId::of(call.a.index())));
  const LibraryModel* model = symbol.function ? nullptr : library_.find(symbol.name);
  return !model || model->is_memory() ? kMemory : model->family;
}

const Operation& Writer::place(const Candidate& candidate) const {
  const Function& function = body(candidate.function);
  return function.operations[candidate.operation];
}

// Which way a switch goes: " is 4, to line 12".
std::string case_taken(const Function& function, const Operation& o, const TrailStep& at) {
  if (!at.branch) return " is none of the cases";
  const Operand number = function.pool[o.pool_begin + 2 * at.way];
  const Operand target = function.pool[o.pool_begin + 2 * at.way + 1];
  std::string text = fmt::format(" is {}", function.integers[number.index()]);
  const Block& block = function.blocks[target.bits];
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    const std::uint32_t line = function.operations[i].location.line;
    if (line != 0) return text + fmt::format(", to line {}", line);
  }
  return text;
}

std::vector<Step> Writer::path(const Candidate& candidate) const {
  const Function& function = body(candidate.function);
  std::vector<Step> steps;
  const auto add = [&](const Operation& o, std::string event, std::string text) -> Step& {
    Step step;
    step.location = frame(candidate.function, o.location);
    step.event = std::move(event);
    step.text = std::move(text);
    return steps.emplace_back(std::move(step));
  };
  const Operation& made = function.operations[candidate.origin.operation];
  add(made, "allocate", fmt::format("{} allocates", callee_name(candidate.function, made)));
  for (const TrailStep& at : candidate.trail) {
    const Operation& o = function.operations[at.operation];
    if (at.branch >= 0) {
      // Of the compiler's own making: it leaves a scope by several ways through one place.
      if (o.location.line == 0) continue;
      Step& step = add(o, "branch", "");
      step.branch = at.branch ? "taken" : "not taken";
      step.condition =
          condition_at(sources_.line(step.location.file, o.location.line), o.location.column);
      const std::string what =
          step.condition.empty() ? "the condition" : fmt::format("`{}`", step.condition);
      step.text = what + (o.op == Op::switch_to ? case_taken(function, o, at)
                          : at.branch           ? " holds"
                                                : " does not hold");
      if (is_unknown_memory(at.rests)) {
        step.text += ", if memory of which nothing is known says so";
      }
    } else if (at.operation != candidate.origin.operation) {
      const std::string called = callee_name(candidate.function, o);
      const bool frees =
          candidate.kind == LossKind::freed_twice && candidate.freed_at == at.operation;
      const bool throws = at.branch == TrailStep::kThrows;
      Step& step = add(o, frees ? "free" : "call",
                       frees    ? called + " frees it"
                       : throws ? called + " throws"
                                : "calls " + called);
      step.call = called;
    }
  }
  if (candidate.kind == LossKind::freed_twice) {
    const std::string called = callee_name(candidate.function, place(candidate));
    add(place(candidate), "free", called + " frees it again").call = called;
  } else if (candidate.kind == LossKind::freed_wrongly) {
    const std::string called = callee_name(candidate.function, place(candidate));
    add(place(candidate), "free",
        fmt::format("what {} made is freed as what {} makes", library_.family(candidate.family),
                    library_.family(candidate.freed_by)))
        .call = called;
  } else if (candidate.kind == LossKind::parked) {
    add(place(candidate), "park",
        fmt::format("goes into {}`{}`, out of which nothing is freed",
                    candidate.below ? "a block of " : "", candidate.holder));
  } else {
    add(place(candidate), "lose", "nothing refers to it any more");
  }
  return steps;
}

std::vector<plumb::Summary> Writer::summaries_on(const Candidate& candidate) const {
  std::vector<std::uint32_t> called;
  const auto add = [&](std::uint32_t function) {
    if (called.size() < kMostSummaries && std::ranges::find(called, function) == called.end()) {
      called.push_back(function);
    }
  };
  if (candidate.origin.callee != Origin::kNone) add(candidate.origin.callee);
  const ProgramFunction& where = program_.functions()[candidate.function];
  for (const TrailStep& at : candidate.trail) {
    const Operation& o = where.body->operations[at.operation];
    if (at.branch >= 0 || o.a.kind() != OperandKind::symbol) continue;
    const ProgramSymbol& symbol =
        program_.symbol(program_.resolve(where.unit, SymbolId::of(o.a.index())));
    if (symbol.function) add(symbol.function->index);
  }
  std::vector<plumb::Summary> graphs;
  for (const std::uint32_t function : called) {
    plumb::Summary graph = summary_graph(program_, FunctionId::of(function), summaries_[function]);
    if (!graph.nodes.empty()) graphs.push_back(std::move(graph));
  }
  return graphs;
}

Cause cause_of(LossKind kind) {
  switch (kind) {
    case LossKind::overwritten:
      return Cause::overwritten;
    case LossKind::scope_end:
    case LossKind::returned:
      return Cause::scope_end;
    case LossKind::holder_freed:
      return Cause::holder_freed;
    case LossKind::discarded:
      return Cause::discarded;
    case LossKind::thrown:
      return Cause::escaped_throw;
    case LossKind::parked:
    case LossKind::freed_twice:
    case LossKind::freed_wrongly:
      return Cause::overwritten;
  }
  return Cause::scope_end;
}

// The block is needed until its last use on the path, and gone after its loss.
void Writer::add_last_use(const Candidate& candidate, Leak& leak) const {
  if (candidate.used_at == 0 || candidate.used_at == candidate.origin.operation) return;
  const Operation& o = body(candidate.function).operations[candidate.used_at];
  if (o.location.line == 0) return;
  LastUse use;
  use.what = o.op == Op::call ? UseKind::call : UseKind::access;
  use.stack.push_back(frame(candidate.function, o.location));
  leak.window = {use.stack.front(), leak.loss->stack.front()};
  leak.last_use = std::move(use);
}

Leak Writer::leak(const Candidate& candidate) const {
  Leak leak;
  leak.kind = Kind::lost;
  leak.confidence = candidate.verdict == Verdict::proved
                        ? confidence_of(doubt_of(candidate, summaries_))
                    : candidate.merged ? kPathUnseen
                                       : kPathUndecided;
  const bool ends_main =
      candidate.kind == LossKind::returned || candidate.kind == LossKind::scope_end;
  leak.when = candidate.kind == LossKind::thrown                        ? When::throwing
              : candidate.kind == LossKind::parked                      ? When::global
              : candidate.oom                                           ? When::oom
              : ends_main && body(candidate.function).display == "main" ? When::main_exit
                                                                        : When::ordinary;
  for (const Origin& origin : chain(candidate)) {
    const Operation& o = body(origin.function).operations[origin.operation];
    if (leak.allocation.stack.empty()) {
      leak.allocation.api = api_name(callee_name(origin.function, o));
      leak.resource = resource_of(origin.function, o);
    }
    leak.allocation.stack.push_back(frame(origin.function, o.location));
  }
  leak.path = path(candidate);
  if (defect_of(candidate.kind) != Defect::leak) {
    leak.kind = candidate.kind == LossKind::freed_twice ? Kind::double_free : Kind::mismatched_free;
    leak.when = When::ordinary;
    if (candidate.kind == LossKind::freed_twice) {
      const Operation& first = body(candidate.function).operations[candidate.freed_at];
      leak.frees.push_back({{frame(candidate.function, first.location)}, 0, {}});
    }
    leak.summaries = summaries_on(candidate);
    leak.suppressed = ignored(leak);
    return leak;
  }
  leak.summaries = summaries_on(candidate);
  if (candidate.kind == LossKind::parked) {
    leak.kind = Kind::forgotten;
    leak.confidence = kParked;
    leak.holders.push_back(Holder{candidate.holder, "", "global", {}, {}});
    leak.suppressed = ignored(leak);
    return leak;
  }
  Loss loss;
  loss.cause = cause_of(candidate.kind);
  loss.stack.push_back(frame(candidate.function, place(candidate).location));
  if (!candidate.holder.empty()) loss.holder = Holder{candidate.holder, "", "local", {}, {}};
  leak.loss = std::move(loss);
  add_last_use(candidate, leak);
  leak.suppressed = ignored(leak);
  return leak;
}

std::optional<Suppressed> Writer::ignored(const Leak& leak) const {
  const Stack none;
  for (const Stack* stack : {&leak.allocation.stack, leak.loss ? &leak.loss->stack : &none}) {
    for (const Frame& frame : *stack) {
      bool found = false;
      const std::string reason =
          ignore_reason(sources_.line(frame.file, frame.line.value_or(0)), found);
      if (found) return Suppressed{"a comment in the source", reason, {}};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Leak> make_findings(const Program& program, const Library& library,
                                const std::vector<Summary>& summaries,
                                const std::vector<Candidate>& candidates,
                                const std::vector<Candidate>& indirect) {
  Writer writer(program, library, summaries);
  // Of the paths on which one allocation is lost, the shortest.
  using Key = std::pair<Defect, std::vector<std::tuple<std::uint32_t, std::uint32_t>>>;
  std::map<Key, const Candidate*> by_allocation;
  for (const Candidate& candidate : candidates) {
    Key key{defect_of(candidate.kind), {}};
    for (const Origin& origin : writer.chain(candidate)) {
      key.second.emplace_back(origin.function, origin.operation);
    }
    const Candidate*& held = by_allocation[key];
    // What is lost on one path and parked on another is lost.
    const auto worth = [](const Candidate& each) {
      return std::pair(each.kind == LossKind::parked, each.trail.size());
    };
    if (!held || worth(candidate) < worth(*held)) held = &candidate;
  }
  // Of the allocations behind one call that are lost at one place, the nearest:
  // a wrapper that tries twice to allocate is one cause.
  // Blocks that the call leaves in different places are not.
  using Cause = std::tuple<Defect, std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>;
  std::map<Cause, const Candidate*> by_cause;
  for (const auto& [key, candidate] : by_allocation) {
    const Candidate*& held = by_cause[{key.first, candidate->function, candidate->origin.operation,
                                       candidate->operation, writer.left_at(*candidate)}];
    if (!held || writer.chain(*candidate).size() < writer.chain(*held).size()) held = candidate;
  }
  // A buffer that is made larger again and again is one buffer: of its growths that are
  // lost at one place, the first.
  std::map<std::tuple<Defect, std::uint32_t, std::uint32_t, std::string>,
           std::vector<const Candidate*>>
      grown;
  std::erase_if(by_cause, [&](const auto& entry) {
    const Candidate& candidate = *entry.second;
    if (!writer.is_grown(candidate)) return false;
    std::vector<const Candidate*>& buffers = grown[{
        std::get<Defect>(entry.first), candidate.function, candidate.operation, candidate.holder}];
    const bool is_known = std::ranges::any_of(
        buffers, [&](const Candidate* each) { return writer.follow(*each, candidate); });
    if (!is_known) buffers.push_back(&candidate);
    return is_known;
  });
  std::vector<Leak> leaks;
  for (const auto& [key, candidate] : by_cause) {
    Leak& leak = leaks.emplace_back(writer.leak(*candidate));
    if (leak.kind == Kind::lost) writer.add_indirect(*candidate, indirect, leak);
  }
  return leaks;
}

}  // namespace plumb::check
