#include "check/summary/value_names.h"

#include <fmt/format.h>

namespace plumb::check {

namespace {

constexpr int kDeepest = 12;  // of a value that is printed whole

const char* sign_of(Code code) {
  switch (code) {
    case Code::add:
      return "+";
    case Code::sub:
      return "-";
    case Code::mul:
      return "*";
    case Code::div_s:
    case Code::div_u:
      return "/";
    case Code::rem_s:
    case Code::rem_u:
      return "%";
    case Code::bit_and:
      return "&";
    case Code::bit_or:
      return "|";
    case Code::bit_xor:
      return "^";
    case Code::shl:
      return "<<";
    case Code::shr_s:
    case Code::shr_u:
      return ">>";
    case Code::eq:
      return "==";
    case Code::ne:
      return "!=";
    case Code::lt_s:
    case Code::lt_u:
      return "<";
    case Code::le_s:
    case Code::le_u:
      return "<=";
    case Code::gt_s:
    case Code::gt_u:
      return ">";
    case Code::ge_s:
    case Code::ge_u:
      return ">=";
    default:
      return "?";
  }
}

}  // namespace

ValueNames::ValueNames(const Program& program, FunctionId function, const Summary& summary)
    : program_(program),
      unit_(program.units()[program.functions()[function.index].unit]),
      function_(*program.functions()[function.index].body),
      values_(summary.values) {
  constexpr int kRounds = 4;  // blocks that hold blocks
  learn(summary.effect.result, function_.result_shape);
  for (int round = 0; round < kRounds; ++round) {
    bool more = false;
    for (const Cell& cell : summary.effect.writes) more |= learn(cell);
    if (!more) break;
  }
}

void ValueNames::follow(const std::vector<Case>& cases) {
  blocks_.erase(0);
  for (const Case& each : cases) {
    learn(each.result, function_.result_shape);
    for (const Cell& cell : each.holders) learn(cell);
  }
}

bool ValueNames::learn(ValueId value, TypeId pointer) {
  if (value == kNoValue || values_.target(value) != value || !values_.is_heap(value)) return false;
  const Type& type = type_at(unit_, pointer);
  if (type.shape != TypeShape::pointer || type.target.index == 0) return false;
  return blocks_.try_emplace(ObjectId{values_[value].number}.index(), type.target).second;
}

bool ValueNames::learn(const Cell& cell) {
  return learn(cell.value, part_of(unit_, behind_value(cell.base), cell.offset).type);
}

std::string ValueNames::object_text(ObjectId object) const {
  switch (object.kind()) {
    case ObjectKind::heap:
      return object.index() == 0 ? "the block" : fmt::format("new#{}", object.index());
    case ObjectKind::var:
      return fmt::format("local#{}", object.index());
    case ObjectKind::global:
    case ObjectKind::function:
      return "&" + program_.symbol(ProgramSymbolId::of(object.index())).name;
  }
  return "?";
}

Place ValueNames::behind_value(ValueId id) const {
  if (id == kNoValue) return {};
  const Value& v = values_[id];
  switch (v.kind) {
    case ValueKind::param: {
      const Var* var = parameter_var(function_, static_cast<std::uint64_t>(v.number));
      return var ? behind(unit_, {var->name, var->shape, false})
                 : Place{fmt::format("arg{}", v.number), {}, true};
    }
    case ValueKind::object: {
      const ObjectId object{v.number};
      if (object.kind() == ObjectKind::heap) {
        const auto known = blocks_.find(object.index());
        return {object_text(object), known == blocks_.end() ? TypeId{} : known->second, true};
      }
      if (object.kind() != ObjectKind::global) return {};
      const ProgramSymbol& symbol = program_.symbol(ProgramSymbolId::of(object.index()));
      // A shape is a number of its unit.
      const bool here = symbol.global && &program_.units()[symbol.global_unit] == &unit_;
      return {symbol.name, here ? symbol.global->shape : TypeId{}, false};
    }
    case ValueKind::cell:
      return behind(unit_, part_of(unit_, behind_value(v.a), v.number));
    case ValueKind::pointer:
      return part_of(unit_, behind_value(v.a), v.number);
    case ValueKind::index:
      return element_of(unit_, behind_value(v.a), "..");
    default:
      return {};
  }
}

std::string ValueNames::place(ValueId base, std::int64_t offset) const {
  const std::string name = part_of(unit_, behind_value(base), offset).name();
  if (!name.empty()) return name;
  return fmt::format("{}->{}", text(base), offset);
}

bool ValueNames::may_point(ValueId id) const {
  const Value& v = values_[id];
  TypeId type;
  if (v.kind == ValueKind::param) {
    const Var* var = parameter_var(function_, static_cast<std::uint64_t>(v.number));
    if (var) type = var->shape;
  } else if (v.kind == ValueKind::cell) {
    if (v.width != 0 && v.width < sizeof(void*)) return false;
    type = part_of(unit_, behind_value(v.a), v.number).type;
  }
  // Type 0 is one that nothing is known of.
  return type.index == 0 || type_at(unit_, type).shape != TypeShape::other;
}

std::string ValueNames::step(ValueId base, std::int64_t offset) const {
  Place whole = behind_value(base);
  whole.text = "*";  // anything but nothing: only what is added counts
  whole.behind = false;
  const std::string name = part_of(unit_, whole, offset).text;
  if (name.starts_with("*.")) return name.substr(2);
  if (name.starts_with("*[")) return name.substr(1);
  return offset == 0 ? "*" : fmt::format("{:+}", offset);
}

std::string ValueNames::text(ValueId id, int depth) const {
  if (id == kNoValue) return "nothing";
  if (depth > kDeepest) return "...";
  const Value& v = values_[id];
  const auto part = [&](ValueId of) { return text(of, depth + 1); };
  switch (v.kind) {
    case ValueKind::none:
      return "nothing";
    case ValueKind::integer:
      return fmt::format("{}", v.number);
    case ValueKind::param:
      return behind_value(id).text;
    case ValueKind::object:
      return object_text(ObjectId{v.number});
    case ValueKind::cell: {
      const Place at = part_of(unit_, behind_value(v.a), v.number);
      return at.text.empty() ? fmt::format("{}->{}", part(v.a), v.number) : at.name();
    }
    case ValueKind::pointer: {
      const Place at = part_of(unit_, behind_value(v.a), v.number);
      return at.text.empty() ? fmt::format("({} + {})", part(v.a), v.number) : "&" + at.name();
    }
    case ValueKind::index:
      return fmt::format("{}[{} * {}]", part(v.a), part(v.b), v.number);
    case ValueKind::fresh:
      return fmt::format("?{}", v.number);
    case ValueKind::merge:
      return fmt::format("?{}.{}", v.width, v.number);
    case ValueKind::binary:
    case ValueKind::compare:
      return fmt::format("({} {} {})", part(v.a), sign_of(v.code), part(v.b));
    case ValueKind::cast:
      return fmt::format("({} bytes of {})", v.width, part(v.a));
    case ValueKind::pair:
      return fmt::format("({}, {})", part(v.a), part(v.b));
    case ValueKind::reach:
      return fmt::format("reach({})", part(v.a));
    case ValueKind::element:
      return fmt::format("element({})", part(v.a));
  }
  return "?";
}

}  // namespace plumb::check
