#include "trace/variables.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "trace/die_walk.h"
#include "trace/inlined_call.h"
#include "trace/type_path.h"
#include "trace/variables_inside.h"

namespace plumb {

namespace {

// Bounds for damaged files.
constexpr std::size_t kMostPlaces = 10'000;  // of one variable
constexpr std::size_t kMostVariables = 100'000;
constexpr std::size_t kMostRows = 10'000;
constexpr std::uint64_t kWholeFunction = std::numeric_limits<std::uint64_t>::max();

std::vector<Range> ranges_of(Dwarf_Die* die) {
  std::vector<Range> ranges;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  std::ptrdiff_t at = 0;
  while (ranges.size() < kMostRows && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
    if (begin < end) ranges.push_back({begin, end});
  }
  return ranges;
}

// The operation at `i`; steps behind it.
Simple read_simple(const Dwarf_Op* ops, std::size_t count, std::size_t& i) {
  const Dwarf_Op& op = ops[i];
  Simple simple;
  if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) {
    simple = {Simple::in_register, static_cast<unsigned>(op.atom - DW_OP_reg0), 0};
  } else if (op.atom == DW_OP_regx) {
    simple = {Simple::in_register, static_cast<unsigned>(op.number), 0};
  } else if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
    simple = {Simple::in_memory, static_cast<unsigned>(op.atom - DW_OP_breg0),
              static_cast<std::int64_t>(op.number)};
  } else if (op.atom == DW_OP_bregx) {
    simple = {Simple::in_memory, static_cast<unsigned>(op.number),
              static_cast<std::int64_t>(op.number2)};
  } else if (op.atom == DW_OP_fbreg) {
    simple = {Simple::in_memory, kFrameBase, static_cast<std::int64_t>(op.number)};
  } else if (op.atom == DW_OP_call_frame_cfa) {
    simple = {Simple::in_memory, kCfa, 0};
  } else if (op.atom == DW_OP_addr) {
    simple = {Simple::address, 0, static_cast<std::int64_t>(op.number)};
  } else if ((op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) ||
             (op.atom >= DW_OP_const1u && op.atom <= DW_OP_consts)) {
    simple = {Simple::constant, 0, 0};
  } else {
    i = count;
    return {};
  }
  ++i;
  if (simple.kind == Simple::in_memory && i + 1 < count && ops[i].atom == DW_OP_plus_uconst) {
    simple.offset += static_cast<std::int64_t>(ops[i++].number);
  }
  if (i < count && ops[i].atom == DW_OP_stack_value) {
    ++i;
    // The value itself is the register, or close to it.
    if (simple.kind == Simple::in_memory && simple.base < kFrameBase) {
      simple = {Simple::in_register, simple.base, 0};
    } else if (simple.kind != Simple::constant) {
      simple = {};
    }
  }
  return simple;
}

bool contains_variables(int tag) {
  return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
         tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

// By the program.
bool is_named(Dwarf_Die* die) {
  const char* name = name_of(die);
  return name != nullptr && *name != '\0' && !is_reserved(name);
}

// The pointer at this offset of the variable, as the source names it: "t.rows[3]".
std::optional<std::string> name_in(Dwarf_Die* variable, std::uint64_t offset) {
  const std::optional<Dwarf_Die> type = type_of(variable);
  const std::optional<std::string> path = type ? path_to_pointer(*type, offset) : std::nullopt;
  if (!path) return std::nullopt;
  return std::string(name_of(variable)) + *path;
}

}  // namespace

Variables::Variables(DwarfInfo& dwarf, const ElfModule& module)
    : dwarf_(dwarf), globals_(dwarf, module) {
  Dwarf_Addr bias = 0;
  cfi_ = dwfl_module_dwarf_cfi(module.handle(), &bias);
  eh_cfi_ = dwfl_module_eh_cfi(module.handle(), &bias);
}

Variables::~Variables() = default;

// What is added to `base` to get the CFA, where most of the range agrees.
std::optional<std::int64_t> Variables::cfa_of(std::uint64_t begin, std::uint64_t end,
                                              unsigned base) {
  std::optional<std::int64_t> best;
  std::uint64_t longest = 0;
  std::uint64_t pc = begin;
  for (std::size_t rows = 0; pc < end && rows < kMostRows; ++rows) {
    Dwarf_Frame* frame = nullptr;
    // The tables in memory count from the module's start, as we do.
    if ((eh_cfi_ == nullptr || dwarf_cfi_addrframe(eh_cfi_, pc, &frame) != 0) &&
        (cfi_ == nullptr || dwarf_cfi_addrframe(cfi_, pc, &frame) != 0)) {
      return best;
    }
    Dwarf_Addr row_begin = 0;
    Dwarf_Addr row_end = 0;
    bool signal = false;
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    const bool known = dwarf_frame_info(frame, &row_begin, &row_end, &signal) >= 0 &&
                       dwarf_frame_cfa(frame, &ops, &count) == 0;
    std::size_t i = 0;
    const Simple rule = known && count != 0 ? read_simple(ops, count, i) : Simple{};
    std::free(frame);
    if (!known || row_end <= pc) return best;
    const std::uint64_t length = std::min<std::uint64_t>(row_end, end) - pc;
    if (rule.kind == Simple::in_memory && rule.base == base && length > longest) {
      longest = length;
      best = rule.offset;
    }
    pc = row_end;
  }
  return best;
}

void Variables::read_places(Function& function, Variable& variable) {
  Dwarf_Attribute attribute;
  if (dwarf_attr(&variable.die, DW_AT_location, &attribute) == nullptr) return;
  const std::optional<Dwarf_Die> type = type_of(&variable.die);
  const std::uint64_t whole = type ? size_of_type(*type) : 0;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  std::ptrdiff_t at = 0;
  while (variable.places.size() < kMostPlaces &&
         (at = dwarf_getlocations(&attribute, at, &base, &begin, &end, &ops, &count)) > 0) {
    std::uint64_t from = 0;
    if (begin >= end) continue;
    for (std::size_t i = 0; i < count;) {
      Place place;
      place.range = {begin, end};
      if (ops[i].atom == DW_OP_piece) {  // a part that is nowhere
        from += ops[i++].number;
        continue;
      }
      if (ops[i].atom == DW_OP_entry_value || ops[i].atom == DW_OP_GNU_entry_value) {
        place.is_inherited = true;
      }
      place.simple = read_simple(ops, count, i);
      place.from = from;
      place.size = whole > from ? whole - from : 0;
      if (i < count && ops[i].atom == DW_OP_piece) {
        place.size = ops[i++].number;
        from += place.size;
      }
      Simple& simple = place.simple;
      if (simple.kind == Simple::in_memory && simple.base == kFrameBase) {
        const std::int64_t offset = simple.offset;
        simple = function.frame_base;
        if (simple.kind == Simple::in_register) simple.kind = Simple::in_memory;
        simple.offset += offset;
      }
      if (simple.kind == Simple::in_memory && simple.base != kCfa) {
        // A range without bounds holds for the function.
        const bool whole_function = end == kWholeFunction;
        const Range where =
            whole_function && !function.ranges.empty() ? function.ranges.front() : place.range;
        const std::optional<std::int64_t> cfa = cfa_of(where.begin, where.end, simple.base);
        if (cfa) {
          simple.offset -= *cfa;
          simple.base = kCfa;
        }
      }
      variable.places.push_back(place);
    }
  }
}

void Variables::read_function(Function& function, Dwarf_Die die) {
  function.ranges = ranges_of(&die);
  Dwarf_Attribute attribute;
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (dwarf_attr_integrate(&die, DW_AT_frame_base, &attribute) != nullptr &&
      dwarf_getlocation(&attribute, &ops, &count) == 0 && count != 0) {
    std::size_t i = 0;
    function.frame_base = read_simple(ops, count, i);
  }
  function.scopes.push_back({-1, 0, true, function.ranges, line_of(&die, DW_AT_decl_line), 0, die});
  std::vector<std::size_t> open;  // scope at each depth
  for (DieWalk walk(die); !walk.done();) {
    open.resize(walk.depth() - 1, 0);
    const std::size_t scope = open.empty() ? 0 : open.back();
    const int tag = walk.tag();
    if (contains_variables(tag)) {
      const bool inlined = tag == DW_TAG_inlined_subroutine;
      open.push_back(function.scopes.size());
      function.scopes.push_back({static_cast<int>(scope),
                                 function.scopes[scope].inlined + (inlined ? 1 : 0), inlined,
                                 ranges_of(walk.die()), line_of(walk.die(), DW_AT_decl_line),
                                 line_of(walk.die(), DW_AT_call_line), *walk.die()});
      walk.enter();
      continue;
    }
    if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
        function.variables.size() < kMostVariables && is_named(walk.die())) {
      function.variables.push_back({*walk.die(), scope, tag == DW_TAG_formal_parameter, {}});
      read_places(function, function.variables.back());
    }
    walk.skip();
  }
}

Variables::Function* Variables::function_at(std::uint64_t pc) {
  Dwarf_Die die;
  std::uint64_t entry = 0;
  if (!dwarf_.function_at(pc, die, entry)) return nullptr;
  std::unique_ptr<Function>& slot = functions_[entry];
  if (!slot) {
    slot = std::make_unique<Function>();
    slot->entry = entry;
    read_function(*slot, die);
  }
  return slot.get();
}

// In order, and without overlap.
static std::vector<Range> joined(std::vector<Range> ranges) {
  std::ranges::sort(ranges, {}, &Range::begin);
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (!result.empty() && range.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

void Variables::add_scoped_slots(const Function& function, std::vector<ScopedSlot>& slots) {
  constexpr std::uint64_t kLargest = 4096;
  const auto is_inside = [&](std::size_t inner, std::size_t outer) {
    int scope = static_cast<int>(inner);
    while (scope > static_cast<int>(outer))
      scope = function.scopes[static_cast<std::size_t>(scope)].parent;
    return scope == static_cast<int>(outer);
  };
  for (const Variable& variable : function.variables) {
    if (variable.scope == 0 || variable.places.size() != 1) continue;
    const Place& place = variable.places.front();
    if (place.simple.kind != Simple::in_memory || place.simple.base != kCfa ||
        place.range.end != kWholeFunction || place.size < sizeof(std::uint64_t) ||
        place.size > kLargest) {
      continue;
    }
    ScopedSlot slot{place.simple.offset, place.size, function.scopes[variable.scope].ranges};
    const std::int64_t end = slot.offset + static_cast<std::int64_t>(slot.size);
    // What else has the same words: a parameter that is its caller's variable. Other
    // variables of callers only share the place with it, before or after.
    for (const Variable& other : function.variables) {
      if (&other == &variable ||
          (!variable.is_parameter && !is_inside(other.scope, variable.scope)) ||
          (!is_inside(other.scope, variable.scope) && !is_inside(variable.scope, other.scope))) {
        continue;
      }
      for (const Place& there : other.places) {
        const std::int64_t begin = there.simple.offset;
        if (there.simple.kind != Simple::in_memory || there.simple.base != kCfa || begin >= end ||
            begin + static_cast<std::int64_t>(there.size) <= slot.offset) {
          continue;
        }
        const std::vector<Range>& scope = function.scopes[other.scope].ranges;
        if (there.range.end == kWholeFunction) {
          slot.live.insert(slot.live.end(), scope.begin(), scope.end());
        } else {
          slot.live.push_back(there.range);
        }
      }
    }
    slot.live = joined(std::move(slot.live));
    slots.push_back(std::move(slot));
  }
}

std::vector<ScopedFunction> Variables::scoped_slots(std::uint64_t pc) {
  std::vector<ScopedFunction> result;
  for (const std::uint64_t entry : dwarf_.functions_beside(pc)) {
    const Function* function = function_at(entry);
    if (function == nullptr || function->entry != entry) continue;
    ScopedFunction found;
    add_scoped_slots(*function, found.slots);
    if (found.slots.empty()) continue;
    found.code = function->ranges;
    result.push_back(std::move(found));
  }
  return result;
}

FoundVariable Variables::found(const Function& function, const Variable& variable,
                               std::string name) {
  Dwarf_Die die = variable.die;
  const std::optional<Dwarf_Die> type = type_of(&die);
  return {std::move(name), type ? type_name(*type) : "",
          variable.is_parameter ? "parameter" : "local", function.entry,
          static_cast<std::size_t>(&variable - function.variables.data())};
}

std::optional<FoundVariable> Variables::on_stack(std::uint64_t pc, std::int64_t offset) {
  Function* function = function_at(pc);
  if (function == nullptr) return std::nullopt;
  const Variable* best = nullptr;
  std::string best_name;
  // Among those that are over, the one that was so last.
  std::pair<int, std::uint64_t> best_rank{-1, 0};
  for (Variable& variable : function->variables) {
    const std::optional<Dwarf_Die> type = type_of(&variable.die);
    const bool number = type && is_number(*type);
    for (const Place& place : variable.places) {
      if (place.simple.kind != Simple::in_memory || place.simple.base != kCfa) continue;
      const std::int64_t inside = offset - place.simple.offset;
      if (inside < 0) continue;
      const std::uint64_t at = static_cast<std::uint64_t>(inside);
      if (at >= place.size && !(at == 0 && place.size == 0)) continue;
      const std::vector<Range>& scope = function->scopes[variable.scope].ranges;
      const bool whole = place.range.end == kWholeFunction;
      std::uint64_t over = 0;
      for (const Range& range : scope) {
        if (range.end <= pc) over = std::max(over, range.end);
      }
      const bool in_scope = variable.scope == 0 || any_has(scope, pc);
      std::pair<int, std::uint64_t> rank =
          !whole && place.range.has(pc)
              ? std::pair<int, std::uint64_t>{3, 0}
              : (in_scope ? std::pair<int, std::uint64_t>{whole ? 3 : 2, 0}
                          : std::pair<int, std::uint64_t>{1, over});
      if (number) rank.first = 0;  // only for want of anything else
      if (rank <= best_rank) continue;
      const std::optional<std::string> name = name_in(&variable.die, place.from + at);
      if (!name) continue;
      best = &variable;
      best_name = *name;
      best_rank = rank;
    }
  }
  if (best == nullptr) return std::nullopt;
  return found(*function, *best, best_name);
}

std::optional<FoundVariable> Variables::in_registers(std::uint64_t pc, std::uint32_t registers) {
  Function* function = function_at(pc);
  if (function == nullptr) return std::nullopt;
  const Variable* best = nullptr;
  std::string best_name;
  std::pair<int, std::uint64_t> best_rank;
  for (Variable& variable : function->variables) {
    for (const Place& place : variable.places) {
      if (place.simple.kind != Simple::in_register || place.simple.base >= 32) continue;
      const bool there = place.range.has(pc) && (registers >> place.simple.base & 1) != 0;
      const bool put_there = place.range.begin == pc + 1;
      if (!there && !put_there) continue;
      const Scope& scope = function->scopes[variable.scope];
      if (!any_has(scope.ranges, pc)) continue;
      std::uint64_t length = 0;
      for (const Range& range : scope.ranges) length += range.end - range.begin;
      // Outer ones live longer.
      const std::pair rank{-scope.inlined * 2 + (there ? 1 : 0), length};
      if (best != nullptr && rank <= best_rank) continue;
      const std::optional<std::string> name = name_in(&variable.die, place.from);
      if (!name) continue;
      best = &variable;
      best_name = *name;
      best_rank = rank;
    }
  }
  if (best == nullptr) return std::nullopt;
  return found(*function, *best, best_name);
}

std::optional<FoundVariable> Variables::through(std::uint64_t pc, const PlumbAlias& alias) {
  Function* function = function_at(pc);
  if (function == nullptr) return std::nullopt;
  const bool in_memory = alias.in_register == PLUMB_ALIAS_IN_MEMORY;
  for (Variable& variable : function->variables) {
    const bool there = std::ranges::any_of(variable.places, [&](const Place& place) {
      if (!place.range.has(pc) || place.from != 0) return false;
      return in_memory ? place.simple.kind == Simple::in_memory && place.simple.base == kCfa &&
                             place.simple.offset == alias.offset
                       : place.simple.kind == Simple::in_register &&
                             place.simple.base == alias.in_register;
    });
    if (!there || !any_has(function->scopes[variable.scope].ranges, pc)) continue;
    const std::optional<Dwarf_Die> type = type_of(&variable.die);
    if (!type) continue;
    std::optional<std::string> path = path_through(*type, name_of(&variable.die), alias.delta);
    if (!path) continue;
    FoundVariable result = found(*function, variable, std::move(*path));
    result.storage = "heap";
    return result;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Variables::set_between(const FoundVariable& variable,
                                                    std::uint64_t first, std::uint64_t last,
                                                    bool known) {
  const auto place = functions_.find(variable.function);
  if (place == functions_.end()) return std::nullopt;
  const std::vector<Place>& places = place->second->variables[variable.index].places;
  std::optional<std::uint64_t> best;
  for (const Place& it : places) {
    if (it.is_inherited || it.simple.kind == Simple::none) continue;
    if (known && it.simple.kind != Simple::constant) continue;
    const std::uint64_t begin = it.range.begin;
    if (begin <= first || begin > last + 1 || (best && *best <= begin)) continue;
    // The same value in another place begins where the last place ends.
    const bool moved = std::ranges::any_of(places, [&](const Place& other) {
      return other.from == it.from && other.range.begin < begin && other.range.end >= begin;
    });
    // Right behind a call, the register for results has nothing else.
    const bool is_result =
        begin == first + 1 && it.simple.kind == Simple::in_register && it.simple.base == 0;
    if (!moved || is_result || it.simple.kind == Simple::constant) best = begin;
  }
  return best;
}

}  // namespace plumb
