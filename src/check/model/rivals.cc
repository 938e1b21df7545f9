#include "check/model/rivals.h"

#include <algorithm>

namespace plumb::check {

namespace {

// Names that the unit defines for all others.
template <typename Visit>
void each_definition(const Unit& unit, const Visit& visit) {
  for (const Function& each : unit.functions) {
    if (each.linkage == Linkage::external) visit(unit.symbols[each.symbol.index]);
  }
  for (const Global& each : unit.globals) {
    if (each.linkage == Linkage::external && each.defined) visit(unit.symbols[each.symbol.index]);
  }
  for (const Alias& each : unit.aliases) {
    if (each.linkage == Linkage::external) visit(unit.symbols[each.symbol.index]);
  }
}

}  // namespace

Rivals::Rivals(const std::vector<Unit>& units) : units_(units) {
  find_names();
  if (!names_.empty()) find_programs();
}

void Rivals::find_names() {
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    each_definition(units_[u], [&](std::string_view name) {
      const auto [first, fresh] = single_.try_emplace(name, u);
      if (fresh || units_[first->second].source == units_[u].source) return;
      Name& rival = names_[name];
      if (rival.definers.empty()) rival.definers.push_back(first->second);
      const bool known = std::ranges::any_of(rival.definers, [&](std::uint32_t other) {
        return units_[other].source == units_[u].source;
      });
      if (!known) rival.definers.push_back(u);
    });
  }
  for (const auto& [name, rival] : names_) single_.erase(name);
}

void Rivals::find_programs() {
  const auto mains = names_.find("main");
  std::vector<std::uint32_t> starts;
  if (mains != names_.end()) {
    starts = mains->second.definers;
  } else if (const auto only = single_.find("main"); only != single_.end()) {
    starts.push_back(only->second);
  }
  for (const std::uint32_t start : starts) {
    std::vector<bool>& program = programs_.emplace_back(units_.size(), false);
    std::vector<std::uint32_t> work{start};
    program[start] = true;
    while (!work.empty()) {
      const Unit& unit = units_[work.back()];
      work.pop_back();
      for (const std::string& name : unit.symbols) {
        const auto found = single_.find(name);
        if (found == single_.end() || program[found->second]) continue;
        program[found->second] = true;
        work.push_back(found->second);
      }
    }
  }
}

std::optional<std::uint32_t> Rivals::meant(std::uint32_t unit, std::string_view name) const {
  const std::vector<std::uint32_t>& definers = names_.at(name).definers;
  for (const std::uint32_t each : definers) {
    if (each == unit || units_[each].source == units_[unit].source) return each;
  }
  std::optional<std::uint32_t> out;
  for (const std::vector<bool>& program : programs_) {
    if (!program[unit]) continue;
    std::optional<std::uint32_t> own;
    for (const std::uint32_t each : definers) {
      if (!program[each]) continue;
      if (own) return std::nullopt;
      own = each;
    }
    if (!own || (out && *out != *own)) return std::nullopt;
    out = own;
  }
  return out;
}

}  // namespace plumb::check
