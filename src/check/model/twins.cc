#include "check/model/twins.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "check/model/unit_file.h"

namespace plumb::check {

std::vector<bool> find_twins(const std::vector<Unit>& units) {
  std::unordered_map<std::string_view, std::uint32_t> units_of_source;
  for (const Unit& unit : units) ++units_of_source[unit.source];
  std::vector<bool> twins(units.size(), false);
  std::unordered_set<std::string> seen;  // of sources that are compiled more than once
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units_of_source[units[i].source] < 2) continue;
    twins[i] = !seen.insert(unit_bytes(units[i])).second;
  }
  return twins;
}

}  // namespace plumb::check
