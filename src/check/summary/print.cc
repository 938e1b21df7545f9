#include "check/summary/print.h"

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

std::string text_of(const Program& program, const Values& values, ValueId id, int depth) {
  if (id == kNoValue) return "nothing";
  if (depth > kDeepest) return "...";
  const Value& v = values[id];
  const auto part = [&](ValueId of) { return text_of(program, values, of, depth + 1); };
  switch (v.kind) {
    case ValueKind::none:
      return "nothing";
    case ValueKind::integer:
      return fmt::format("{}", v.number);
    case ValueKind::param:
      return fmt::format("arg{}", v.number);
    case ValueKind::object: {
      const ObjectId object{v.number};
      switch (object.kind()) {
        case ObjectKind::heap:
          return object.index() == 0 ? "the block" : fmt::format("new#{}", object.index());
        case ObjectKind::var:
          return fmt::format("local#{}", object.index());
        case ObjectKind::global:
        case ObjectKind::function:
          return "&" + program.symbol(ProgramSymbolId::of(object.index())).name;
      }
      break;
    }
    case ValueKind::cell:
      return fmt::format("{}->{}", part(v.a), v.number);
    case ValueKind::pointer:
      return fmt::format("({} + {})", part(v.a), v.number);
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
    case ValueKind::reach:
      return fmt::format("reach({})", part(v.a));
  }
  return "?";
}

std::string fact_text(const std::string& value, const Fact& fact) {
  if (fact.low == fact.high) return fmt::format("{} == {}", value, fact.low);
  std::string out;
  if (fact.low != INT64_MIN) out = fmt::format("{} >= {}", value, fact.low);
  if (fact.high != INT64_MAX) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{} <= {}", value, fact.high);
  }
  if (fact.nonzero && fact.low <= 0 && fact.high >= 0) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{} != 0", value);
  }
  return out;
}

const char* fate_word(Fate fate) {
  switch (fate) {
    case Fate::none:
    case Fate::live:
      return "lives";
    case Fate::freed:
      return "is freed";
    case Fate::escaped:
      return "is kept elsewhere";
  }
  return "?";
}

void add_case(const Program& program, const Values& values, const Case& each, std::string& out) {
  const auto text = [&](ValueId id) { return value_text(program, values, id); };
  out += fmt::format("    {}", fate_word(each.fate));
  if (each.in_place) out += " where it was";
  if (each.throws) out += ", throws";
  for (const Cell& cell : each.holders) {
    out += fmt::format("; {}->{} = {}", text(cell.base), cell.offset, text(cell.value));
  }
  for (const Cell& cell : each.beside) {
    out += fmt::format("; beside it {}->{} = {}", text(cell.base), cell.offset, text(cell.value));
  }
  if (each.result != kNoValue) {
    out += "; returns " + text(each.result);
    if (!each.result_fact.trivial() && !values.is_integer(each.result)) {
      out += fmt::format(" ({})", fact_text("it", each.result_fact));
    }
  }
  const char* separator = "\n      when ";
  for (const Guard& guard : each.guards) {
    out += separator + fact_text(text(guard.value), guard.fact);
    separator = "\n       and ";
  }
  out += '\n';
}

}  // namespace

std::string value_text(const Program& program, const Values& values, ValueId id) {
  return text_of(program, values, id, 0);
}

std::string summary_text(const Program& program, const Summary& summary) {
  const auto text = [&](ValueId id) { return value_text(program, summary.values, id); };
  std::string out;
  if (!summary.known) return "  nothing is known of it: over the budget\n";
  const Effect& effect = summary.effect;
  if (!effect.returns) out += "  does not return\n";
  if (effect.throws) out += "  may throw\n";
  if (!summary.complete) out += "  touches more inputs than are listed\n";
  if (effect.result != kNoValue) {
    out += "  returns " + text(effect.result);
    if (!effect.result_fact.trivial() && !summary.values.is_integer(effect.result)) {
      out += fmt::format(" ({})", fact_text("it", effect.result_fact));
    }
    out += '\n';
  }
  for (const Cell& cell : effect.writes) {
    out += fmt::format("  writes {}->{} = {}\n", text(cell.base), cell.offset, text(cell.value));
  }
  for (const NewBlock& block : summary.blocks) {
    const Function& body = *program.functions()[block.origin.function].body;
    const Location& at = body.operations[block.origin.operation].location;
    out += fmt::format("  hands out a block allocated at line {}:\n", at.line);
    for (const Case& each : block.cases) add_case(program, summary.values, each, out);
  }
  for (const Input& input : summary.inputs) {
    out += fmt::format("  what it is given as {}:\n", text(input.value));
    for (const Case& each : input.cases) add_case(program, summary.values, each, out);
  }
  return out;
}

}  // namespace plumb::check
