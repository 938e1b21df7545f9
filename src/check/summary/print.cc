#include "check/summary/print.h"

#include <array>

#include <fmt/format.h>

#include "base/demangle.h"
#include "check/summary/value_names.h"

namespace plumb::check {

namespace {

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

void add_case(const ValueNames& names, const Values& values, const Case& each, std::string& out) {
  const auto text = [&](ValueId id) { return names.text(id); };
  out += fmt::format("    {}", fate_word(each.fate));
  if (each.in_place) out += " where it was";
  if (each.throws) out += ", throws";
  for (const Cell& cell : each.holders) {
    out += fmt::format("; {} = {}", names.place(cell.base, cell.offset), text(cell.value));
  }
  for (const Cell& cell : each.beside) {
    out +=
        fmt::format("; beside it {} = {}", names.place(cell.base, cell.offset), text(cell.value));
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

std::string thrown_name(const std::string& typeinfo) {
  constexpr std::string_view kBefore = "typeinfo for ";
  std::string out = Demangler{}(typeinfo);
  return out.starts_with(kBefore) ? out.substr(kBefore.size()) : out;
}

}  // namespace

std::string summary_text(const Program& program, FunctionId function, const Summary& summary) {
  if (!summary.known) return "  nothing is known of it: over the budget\n";
  ValueNames names(program, function, summary);
  const auto text = [&](ValueId id) { return names.text(id); };
  std::string out;
  const Effect& effect = summary.effect;
  if (!effect.returns) out += "  does not return\n";
  for (const Throw& each : effect.throws) {
    out += "  may throw";
    if (each.thrown != kAnyClass) {
      out += ' ' + thrown_name(program.symbol(ProgramSymbolId::of(each.thrown)).name);
    }
    const char* separator = " when ";
    for (const GuardSet& way : each.ways) {
      for (const Guard& guard : way.guards) {
        out += separator + fact_text(text(guard.value), guard.fact);
        separator = " and ";
      }
      separator = ", or when ";
    }
    out += '\n';
  }
  if (!summary.complete) out += "  touches more inputs than are listed\n";
  if (effect.result != kNoValue) {
    out += "  returns " + text(effect.result);
    if (!effect.result_fact.trivial() && !summary.values.is_integer(effect.result)) {
      out += fmt::format(" ({})", fact_text("it", effect.result_fact));
    }
    out += '\n';
  }
  constexpr std::array<const char*, kSigns> kSignNames = {"< 0", "0", "> 0", "other than 0"};
  for (std::size_t i = 0; i < effect.meanings.size(); ++i) {
    const char* separator = " only when ";
    const Meaning& meaning = effect.meanings[i];
    if (i == static_cast<std::size_t>(Sign::nonzero)) continue;
    if (meaning.guards.empty() && meaning.ways.empty()) continue;
    out += fmt::format("  returns {}", kSignNames[i]);
    const auto add = [&](const std::vector<Guard>& guards) {
      for (const Guard& guard : guards) {
        out += separator + fact_text(text(guard.value), guard.fact);
        separator = " and ";
      }
    };
    if (meaning.ways.empty()) add(meaning.guards);
    for (const GuardSet& way : meaning.ways) {
      add(way.guards);
      separator = ", or when ";
    }
    out += '\n';
  }
  for (const Cell& cell : effect.writes) {
    out += fmt::format("  writes {} = {}\n", names.place(cell.base, cell.offset), text(cell.value));
  }
  for (const NewBlock& block : summary.blocks) {
    const Function& body = *program.functions()[block.origin.function].body;
    const Location& at = body.operations[block.origin.operation].location;
    out += fmt::format("  hands out a block allocated at line {}:\n", at.line);
    names.follow(block.cases);
    for (const Case& each : block.cases) add_case(names, summary.values, each, out);
  }
  for (const Input& input : summary.inputs) {
    out += fmt::format("  what it is given as {}:\n", text(input.value));
    for (const Case& each : input.cases) add_case(names, summary.values, each, out);
  }
  return out;
}

}  // namespace plumb::check
