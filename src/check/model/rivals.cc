#include "check/model/rivals.h"

#include <algorithm>
#include <filesystem>

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
  for (const Unit& unit : units) {
    const std::filesystem::path path = std::filesystem::path(unit.source).lexically_normal();
    sources_.push_back(path.string());
    folders_.push_back(path.parent_path().string());
  }
  find_names();
  if (!names_.empty()) find_programs();
}

void Rivals::find_names() {
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    each_definition(units_[u], [&](std::string_view name) {
      const auto [first, fresh] = single_.try_emplace(name, u);
      if (fresh || sources_[first->second] == sources_[u]) return;
      Name& rival = names_[name];
      if (rival.definers.empty()) rival.definers.push_back(first->second);
      const bool known = std::ranges::any_of(
          rival.definers, [&](std::uint32_t other) { return sources_[other] == sources_[u]; });
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
      const std::uint32_t unit = work.back();
      work.pop_back();
      for (const std::string& name : units_[unit].symbols) {
        std::optional<std::uint32_t> next;
        if (const auto found = single_.find(name); found != single_.end()) {
          next = found->second;
        } else if (const auto several = names_.find(name); several != names_.end()) {
          next = in_folder_of(unit, several->second);
        }
        if (!next || program[*next]) continue;
        program[*next] = true;
        work.push_back(*next);
      }
    }
  }
}

// The one definition beside the unit, if there is one and the unit has none itself.
std::optional<std::uint32_t> Rivals::in_folder_of(std::uint32_t unit, const Name& name) const {
  std::optional<std::uint32_t> out;
  for (const std::uint32_t each : name.definers) {
    if (sources_[each] == sources_[unit]) return std::nullopt;
    if (folders_[each] != folders_[unit]) continue;
    if (out) return std::nullopt;
    out = each;
  }
  return out;
}

std::optional<std::uint32_t> Rivals::meant(std::uint32_t unit, std::string_view name) const {
  const Name& several = names_.at(name);
  const std::vector<std::uint32_t>& definers = several.definers;
  for (const std::uint32_t each : definers) {
    if (each == unit || sources_[each] == sources_[unit]) return each;
  }
  std::optional<std::uint32_t> out;
  bool in_program = false;
  for (const std::vector<bool>& program : programs_) {
    if (!program[unit]) continue;
    in_program = true;
    std::optional<std::uint32_t> own;
    for (const std::uint32_t each : definers) {
      if (!program[each]) continue;
      if (own) return std::nullopt;
      own = each;
    }
    if (!own || (out && *out != *own)) return std::nullopt;
    out = own;
  }
  return in_program ? out : in_folder_of(unit, several);
}

}  // namespace plumb::check
