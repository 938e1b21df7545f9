#include "check/summary_graph.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "check/summary/print.h"
#include "check/summary/value_names.h"

namespace plumb::check {

namespace {

constexpr std::size_t kMostNodes = 40;
constexpr const char* kResult = "result";

class Graph {
 public:
  Graph(const ValueNames& names, const Summary& summary) : names_(names), summary_(summary) {}

  plumb::Summary made() {
    const Effect& effect = summary_.effect;
    for (const Cell& cell : effect.writes) write(cell);
    // What comes back: a new block, or something that was there.
    if (points(effect.result) && add(effect.result)) {
      out_.nodes.push_back({kResult, kResult, "", {}});
      out_.edges.push_back({kResult, name(summary_.values.target(effect.result)), "", false, {}});
    }
    for (const Input& input : summary_.inputs) {
      const bool freed = std::ranges::any_of(
          input.cases, [](const Case& each) { return each.fate == Fate::freed; });
      if (freed && add(input.value)) state(input.value, "freed");
    }
    return std::move(out_);
  }

 private:
  // Values that stand for memory: what a parameter or a cell points to, a block, a
  // global. Not numbers, and not what is not known.
  bool points(ValueId id) const {
    if (id == kNoValue) return false;
    switch (summary_.values[id].kind) {
      case ValueKind::param:
      case ValueKind::object:
      case ValueKind::cell:
      case ValueKind::reach:
        return true;
      case ValueKind::pointer:
      case ValueKind::index:
        return points(summary_.values.target(id));
      default:
        return false;
    }
  }

  static std::string name(ValueId id) { return fmt::format("v{}", id.index); }

  // The node of a value, and on the way to it those that it is found through. False
  // when there is no room for it.
  bool add(ValueId id) {
    const ValueId at = summary_.values.target(id);
    if (nodes_.contains(at.index)) return true;
    if (nodes_.size() >= kMostNodes || !points(at)) return false;
    const Value& value = summary_.values[at];
    const bool below = value.kind == ValueKind::cell || value.kind == ValueKind::reach;
    if (below && !add(value.a)) return false;
    nodes_.emplace(at.index, out_.nodes.size());
    const bool made =
        value.kind == ValueKind::object && ObjectId{value.number}.kind() == ObjectKind::heap;
    out_.nodes.push_back({name(at), names_.text(at), made ? "allocated" : "", {}});
    if (below) {
      const std::string way =
          value.kind == ValueKind::reach ? "..." : names_.step(value.a, value.number);
      out_.edges.push_back({name(summary_.values.target(value.a)), name(at), way, true, {}});
    }
    return true;
  }

  void write(const Cell& cell) {
    if (!points(cell.value) || !points(cell.base) || !add(cell.base) || !add(cell.value)) return;
    out_.edges.push_back({name(summary_.values.target(cell.base)),
                          name(summary_.values.target(cell.value)),
                          names_.step(cell.base, cell.offset),
                          false,
                          {}});
  }

  void state(ValueId id, const char* word) {
    const auto at = nodes_.find(summary_.values.target(id).index);
    if (at != nodes_.end()) out_.nodes[at->second].state = word;
  }

  const ValueNames& names_;
  const Summary& summary_;
  plumb::Summary out_;
  std::map<std::uint32_t, std::size_t> nodes_;  // by value, index into out_.nodes
};

}  // namespace

plumb::Summary summary_graph(const Program& program, FunctionId function, const Summary& summary) {
  const Function& body = *program.functions()[function.index].body;
  plumb::Summary out;
  if (summary.known) out = Graph(ValueNames(program, function, summary), summary).made();
  out.function = body.display;
  out.text = summary_text(program, function, summary);
  while (out.text.ends_with('\n')) out.text.pop_back();
  return out;
}

}  // namespace plumb::check
