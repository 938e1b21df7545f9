#include "check/summary/categories.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "check/summary/value_names.h"

namespace plumb::check {

namespace {

constexpr const char* kResult = "ret";
constexpr int kSteps = 5;  // of an access path, as in the paper

enum class Side { argument, global, result };

struct Anchor {
  Side side;
  std::string text;
};

class Collector {
 public:
  Collector(const Program& program, FunctionId function, const Summary& summary)
      : program_(program),
        names_(program, function, summary),
        summary_(summary),
        values_(summary.values) {}

  std::vector<Category> all() {
    for (std::size_t i = 0; i < summary_.blocks.size(); ++i) allocated(summary_.blocks[i], i + 1);
    for (const Cell& cell : summary_.effect.writes) moved(cell);
    returned(summary_.effect.result);
    for (const Input& input : summary_.inputs) {
      for (const Case& each : input.cases) given(input, each);
    }
    return {found_.begin(), found_.end()};
  }

 private:
  // Where a block is made is where the source calls for it.
  void allocated(const NewBlock& block, std::size_t number) {
    const Function& body = *program_.functions()[block.origin.function].body;
    const std::string line =
        fmt::format("line {}", body.operations[block.origin.operation].location.line);
    names_.follow(block.cases);
    for (const Case& each : block.cases) {
      if (each.fate != Fate::live) continue;
      for (const Anchor& at : holders(0, number, each, kSteps)) {
        if (at.side == Side::argument) add(CategoryKind::alloc2arg, line, at.text);
        if (at.side == Side::result) add(CategoryKind::alloc2ret, line, at.text);
      }
    }
  }

  // The anchors at which a block of the function is found when it is over. In the cases of
  // a block it has the number 0, elsewhere its own.
  std::vector<Anchor> holders(std::uint32_t object, std::size_t number, const Case& each,
                              int steps) const {
    std::vector<Anchor> out;
    if (steps == 0) return out;
    const auto is_it = [&](ValueId value) {
      if (value == kNoValue) return false;
      const ValueId target = values_.target(value);
      if (!values_.is_heap(target)) return false;
      const std::uint32_t index = ObjectId{values_[target].number}.index();
      return index == object || (number != 0 && index == number);
    };
    if (is_it(each.result)) out.push_back({Side::result, kResult});
    const auto look = [&](const std::vector<Cell>& cells) {
      for (const Cell& cell : cells) {
        if (!is_it(cell.value)) continue;
        const ValueId base = values_.target(cell.base);
        if (!values_.is_heap(base)) {
          if (const std::optional<Side> side = side_of(base)) {
            out.push_back({*side, names_.place(cell.base, cell.offset)});
          }
          continue;
        }
        const std::uint32_t outer = ObjectId{values_[base].number}.index();
        if (outer == object || outer == number) continue;
        for (const Anchor& at : holders(outer, outer, each, steps - 1)) {
          out.push_back({at.side, below(at.text, names_.step(cell.base, cell.offset))});
        }
      }
    };
    look(each.holders);
    look(summary_.effect.writes);
    return out;
  }

  static std::string below(const std::string& pointer, const std::string& step) {
    if (step == "*") return "*" + pointer;
    const std::string whole = pointer.starts_with('*') ? "(" + pointer + ")" : pointer;
    if (step.starts_with('[')) return whole + step;
    return whole + "->" + (step.starts_with('+') ? step.substr(1) : step);
  }

  std::optional<Side> side_of(ValueId value) const {
    const Value& root = values_[values_.root(value)];
    if (root.kind == ValueKind::param) return Side::argument;
    if (root.kind == ValueKind::object && ObjectId{root.number}.kind() == ObjectKind::global) {
      return Side::global;
    }
    return std::nullopt;
  }

  // What was there before the call and is a pointer: not a number that is passed on, and
  // not the address of what the caller has anyhow.
  std::optional<Side> side_of_pointer(ValueId value) const {
    if (value == kNoValue) return std::nullopt;
    const ValueId target = values_.target(value);
    const ValueKind kind = values_[target].kind;
    if (kind != ValueKind::param && kind != ValueKind::cell && kind != ValueKind::reach) {
      return std::nullopt;
    }
    if (!names_.may_point(target)) return std::nullopt;
    return side_of(target);
  }

  void moved(const Cell& cell) {
    const std::optional<Side> from = side_of_pointer(cell.value);
    const std::optional<Side> to = side_of(cell.base);
    if (!from || !to) return;
    const std::string name = names_.text(cell.value);
    const std::string place = names_.place(cell.base, cell.offset);
    if (*from == Side::argument) {
      add(*to == Side::argument ? CategoryKind::arg2arg : CategoryKind::arg2glob, name, place);
    } else if (*to == Side::argument) {
      add(CategoryKind::glob2arg, name, place);
    }
  }

  void returned(ValueId result) {
    const std::optional<Side> from = side_of_pointer(result);
    if (!from) return;
    add(*from == Side::argument ? CategoryKind::arg2ret : CategoryKind::glob2ret,
        names_.text(result), kResult);
  }

  // What becomes of one thing that the caller gave.
  void given(const Input& input, const Case& each) {
    if (each.fate == Fate::freed && side_of(input.value) == Side::argument) {
      add(CategoryKind::arg2free, names_.text(input.value), {});
    }
    if (each.parked != kNotParked && side_of(input.value) == Side::argument) {
      add(CategoryKind::arg2glob, names_.text(input.value),
          program_.symbol(ProgramSymbolId::of(each.parked)).name);
    }
    for (const Cell& cell : each.holders) moved(cell);
    returned(each.result);
  }

  void add(CategoryKind kind, std::string from, std::string to) {
    if (from != to) found_.insert({kind, std::move(from), std::move(to)});
  }

  const Program& program_;
  ValueNames names_;
  const Summary& summary_;
  const Values& values_;
  std::set<Category> found_;
};

}  // namespace

std::vector<Category> categories_of(const Program& program, FunctionId function,
                                    const Summary& summary) {
  if (!summary.known) return {};
  return Collector(program, function, summary).all();
}

}  // namespace plumb::check
