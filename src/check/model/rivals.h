// Which definition a unit means, where several units define one name.
//
// A compilation database has no link lines: two programs in one build folder each
// have a `main`, perhaps a `usage` and a `verbose`. A program is what its `main`
// reaches by names that one unit alone defines, or one in the folder of who names it.
// A unit that defines the name itself means its own; another means the definition of
// its program, if all programs that it is part of agree; else nobody knows.
//
// Definitions that come from the same source (compiled twice, with other flags) are
// no rivals: the first stands for all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "check/model/unit.h"

namespace plumb::check {

class Rivals {
 public:
  explicit Rivals(const std::vector<Unit>& units);

  bool has(std::string_view name) const { return names_.contains(name); }
  // Of a name that has rivals: the unit whose definition `unit` means.
  std::optional<std::uint32_t> meant(std::uint32_t unit, std::string_view name) const;

 private:
  struct Name {
    std::vector<std::uint32_t> definers;  // units, ascending
  };

  void find_names();
  void find_programs();
  std::optional<std::uint32_t> in_folder_of(std::uint32_t unit, const Name& name) const;

  const std::vector<Unit>& units_;
  std::vector<std::string> sources_;  // by unit: its path
  std::vector<std::string> folders_;
  std::unordered_map<std::string_view, Name> names_;
  std::unordered_map<std::string_view, std::uint32_t> single_;  // defined once: by this unit
  std::vector<std::vector<bool>> programs_;                     // by main: the units
};

}  // namespace plumb::check
