// How variables.cc and variable_scopes.cc keep what they know of a function.
#pragma once

#include <dwarf.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/variables.h"

namespace plumb {

using Range = CodeRange;

inline bool any_has(const std::vector<Range>& ranges, std::uint64_t pc) {
  return std::ranges::any_of(ranges, [&](const Range& range) { return range.has(pc); });
}

// One register or one sum of a register and a constant.
struct Simple {
  enum Kind { none, in_register, in_memory, constant, address } kind = none;
  unsigned base = 0;  // register; kFrameBase
  std::int64_t offset = 0;
};
constexpr unsigned kFrameBase = 1000;
constexpr unsigned kCfa = 1001;

inline std::uint64_t line_of(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word line = 0;
  return dwarf_formudata(dwarf_attr_integrate(die, attribute, &found), &line) == 0 ? line : 0;
}

struct Variables::Place {
  Range range;
  Simple simple;
  std::uint64_t from = 0;  // the part of the variable that is there
  std::uint64_t size = 0;
  bool is_inherited = false;  // what it was at the entry: nothing new
};

struct Variables::Scope {
  int parent = -1;
  int inlined = 0;  // how many inlined calls deep
  bool is_function = true;
  std::vector<Range> ranges;
  std::uint64_t declared = 0;  // line
  std::uint64_t called = 0;    // line of the inlined call
  Dwarf_Die die{};
};

struct Variables::Variable {
  Dwarf_Die die{};
  std::size_t scope = 0;
  bool is_parameter = false;
  std::vector<Place> places;
};

struct Variables::Function {
  std::uint64_t entry = 0;
  std::vector<Range> ranges;
  Simple frame_base;
  std::vector<Scope> scopes;  // outer ones first
  std::vector<Variable> variables;

  // The scope that counts as the function of a variable: blocks left out.
  std::size_t function_scope(std::size_t scope) const {
    while (!scopes[scope].is_function && scopes[scope].parent >= 0) {
      scope = static_cast<std::size_t>(scopes[scope].parent);
    }
    return scope;
  }
  // The function that an inlined call is in.
  std::size_t caller_of(std::size_t call) const {
    return function_scope(static_cast<std::size_t>(scopes[call].parent));
  }
  // The line in the source function `home` that an instruction of this line
  // belongs to; 0: it does not.
  std::uint64_t line_in(std::size_t home, std::uint64_t pc, std::uint64_t line) const {
    for (std::size_t scope = innermost(pc); scope != home;) {
      if (scopes[scope].parent < 0) return 0;
      line = scopes[scope].called;
      scope = caller_of(scope);
    }
    return line;
  }
  // The innermost inlined call (or the function itself) at an instruction.
  std::size_t innermost(std::uint64_t pc) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < scopes.size(); ++i) {
      if (scopes[i].is_function && scopes[i].inlined > scopes[best].inlined &&
          any_has(scopes[i].ranges, pc)) {
        best = i;
      }
    }
    return best;
  }
};

}  // namespace plumb
