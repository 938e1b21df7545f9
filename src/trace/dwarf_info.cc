#include "trace/dwarf_info.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "trace/die_walk.h"

namespace plumb {
namespace {

// More ranges than any real module has: a damaged one can share one long list
// among all its DIEs.
constexpr std::size_t kMostRanges = 1 << 24;
constexpr std::size_t kMostRangesOfOne = 1 << 20;
constexpr std::size_t kLongestText = 64 << 10;
constexpr std::size_t kDeepestInlining = 256;
constexpr int kDeepestScope = 64;

template <typename Visit>
void for_each_range(Dwarf_Die* die, Visit visit) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  std::ptrdiff_t at = 0;
  for (std::size_t count = 0; count < kMostRangesOfOne; ++count) {
    at = dwarf_ranges(die, at, &base, &begin, &end);
    if (at <= 0) return;
    if (begin < end) visit(begin, end);
  }
}

const char* string_of(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute found;
  return dwarf_formstring(dwarf_attr_integrate(die, attribute, &found));
}

std::optional<std::uint32_t> number_of(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr_integrate(die, attribute, &found), &value) != 0) return {};
  if (value > UINT32_MAX) return {};
  return static_cast<std::uint32_t>(value);
}

// Lines and columns count from 1; 0 says that there is none.
std::optional<std::uint32_t> position_of(Dwarf_Die* die, unsigned attribute) {
  const std::optional<std::uint32_t> number = number_of(die, attribute);
  return number == 0U ? std::nullopt : number;
}

std::string bounded(const char* text) {
  return text != nullptr ? std::string(text, strnlen(text, kLongestText)) : std::string();
}

// In these a function's name needs no scope before it.
bool has_plain_names(int language) {
  switch (language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case 0x2c:  // DW_LANG_C17
    case DW_LANG_Mips_Assembler:
    case DW_LANG_Go:
      return true;
    default:
      return false;
  }
}

bool holds_functions(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_module:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
      return true;
    default:
      return false;
  }
}

// The DIE that has the name of this one: itself, or what it is an instance or
// a definition of.
Dwarf_Die named_die(Dwarf_Die die) {
  for (int i = 0; i < 16 && !dwarf_hasattr(&die, DW_AT_name); ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if ((dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
         dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr) ||
        dwarf_formref_die(&attribute, &origin) == nullptr) {
      break;
    }
    die = origin;
  }
  return die;
}

std::string scope_name(Dwarf_Die* die, bool around_call_operator) {
  if (const char* name = dwarf_diename(die); name != nullptr && *name != '\0') {
    return bounded(name);
  }
  switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
      return "(anonymous namespace)";
    case DW_TAG_lexical_block:
    case DW_TAG_subprogram:
      return "";
    default:
      return around_call_operator ? "{lambda}" : "(anonymous class)";
  }
}

}  // namespace

struct DwarfInfo::InlineTree {
  struct Call {
    Dwarf_Die die{};
    int caller = -1;  // index of the call that this one is inside of
  };
  std::vector<Call> calls;
  IntervalMap<int> innermost;
};

struct DwarfInfo::Function {
  Dwarf_Die die{};
  std::uint64_t entry = 0;
  std::unique_ptr<InlineTree> inlines;
};

// The functions of a unit by address, and what encloses a DIE by offset.
struct DwarfInfo::Scopes {
  struct Scope {
    Dwarf_Die die{};
    int parent = -1;
  };
  std::vector<Function> functions;
  IntervalMap<std::size_t> function_at;
  std::vector<Scope> scopes;
  IntervalMap<int> scope_at;
};

struct DwarfInfo::Unit {
  Dwarf_Die die{};   // what the file itself has: with the line table
  Dwarf_Die body{};  // what has the functions: the same, or the .dwo's
  bool ready = false;
  Scopes* scopes = nullptr;
  Dwarf_Lines* lines = nullptr;
  std::size_t line_count = 0;
  Dwarf_Files* files = nullptr;
  std::string directory;
  std::unordered_map<const char*, std::string> paths;
};

DwarfInfo::DwarfInfo(Dwarf* dwarf, const ElfModule& module, Demangler& demangle)
    : dwarf_(dwarf), demangle_(demangle) {
  index_units(module);
}

DwarfInfo::~DwarfInfo() = default;

void DwarfInfo::index_units(const ElfModule& module) {
  Dwarf_CU* cu = nullptr;
  Dwarf_Half version = 0;
  std::uint8_t type = 0;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf_, cu, &cu, &version, &type, &die, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    if (dwarf_tag(&die) == DW_TAG_invalid) continue;
    if (dwarf_haschildren(&die) > 0) has_functions_ = true;
    if (dwarf_hasattr(&die, DW_AT_stmt_list)) has_lines_ = true;
    const std::size_t index = units_.size();
    bool has_code = false;
    for_each_range(&die, [&](std::uint64_t begin, std::uint64_t end) {
      // What the linker dropped is left at 0 or at the end of all addresses.
      if (!module.in_code(begin - module.dwarf_shift())) return;
      if (unit_at_.pending() >= kMostRanges) return;
      unit_at_.add(begin, end, index);
      has_code = true;
    });
    if (!has_code) continue;
    units_.push_back(std::make_unique<Unit>());
    units_.back()->die = die;
  }
  unit_at_.finish();
}

DwarfInfo::Unit& DwarfInfo::unit_ready(std::size_t index) {
  Unit& unit = *units_[index];
  if (unit.ready) return unit;
  unit.ready = true;
  unit.body = unit.die;
  Dwarf_Die split{};
  std::uint8_t type = 0;
  if (dwarf_cu_info(unit.die.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
      type == DW_UT_skeleton) {
    if (dwarf_tag(&split) != DW_TAG_invalid) {
      unit.body = split;
      has_functions_ = true;
    } else {
      if (missing_split_units_++ == 0) {
        const char* name = string_of(&unit.die, DW_AT_dwo_name);
        if (name == nullptr) name = string_of(&unit.die, DW_AT_GNU_dwo_name);
        missing_split_file_ = bounded(name);
      }
    }
  }
  unit.directory = bounded(string_of(&unit.die, DW_AT_comp_dir));
  unit.scopes = &scopes_of(&unit.body);
  if (dwarf_getsrclines(&unit.die, &unit.lines, &unit.line_count) != 0) unit.lines = nullptr;
  if (dwarf_getsrcfiles(&unit.body, &unit.files, nullptr) != 0) unit.files = nullptr;
  return unit;
}

DwarfInfo::Scopes& DwarfInfo::scopes_of(Dwarf_Die* unit_die) {
  std::unique_ptr<Scopes>& slot = scopes_[unit_die->cu];
  if (slot) return *slot;
  slot = std::make_unique<Scopes>();
  Scopes& scopes = *slot;

  struct Open {
    int scope;
    std::uint64_t begin;
  };
  std::vector<Open> open;  // one for each depth entered
  const auto close_down_to = [&](std::size_t depth, std::uint64_t offset) {
    while (open.size() >= depth) {
      scopes.scope_at.add(open.back().begin, offset, open.back().scope,
                          static_cast<std::uint32_t>(open.size()));
      open.pop_back();
    }
  };
  std::uint64_t last = 0;
  for (DieWalk walk(*unit_die); !walk.done();) {
    const std::uint64_t offset = dwarf_dieoffset(walk.die());
    last = offset;
    close_down_to(walk.depth(), offset);
    if (walk.tag() == DW_TAG_subprogram) {
      const std::size_t index = scopes.functions.size();
      bool has_code = false;
      std::uint64_t entry = 0;
      for_each_range(walk.die(), [&](std::uint64_t begin, std::uint64_t end) {
        if (scopes.function_at.pending() >= kMostRanges) return;
        if (!has_code) entry = begin;
        has_code = true;
        scopes.function_at.add(begin, end, index, static_cast<std::uint32_t>(walk.depth()));
      });
      if (has_code) {
        Dwarf_Addr low = 0;
        if (dwarf_entrypc(walk.die(), &low) == 0) entry = low;
        scopes.functions.push_back({*walk.die(), entry, nullptr});
      }
    }
    if (!holds_functions(walk.tag())) {
      walk.skip();
      continue;
    }
    const int scope = static_cast<int>(scopes.scopes.size());
    scopes.scopes.push_back({*walk.die(), open.empty() ? -1 : open.back().scope});
    open.push_back({scope, offset + 1});
    walk.enter();
  }
  close_down_to(1, last + 1);
  scopes.function_at.finish();
  scopes.scope_at.finish();
  return scopes;
}

DwarfInfo::InlineTree& DwarfInfo::inlines_of(Function& function) {
  if (function.inlines) return *function.inlines;
  function.inlines = std::make_unique<InlineTree>();
  InlineTree& tree = *function.inlines;
  std::vector<int> enclosing;  // by depth: the innermost call at it
  for (DieWalk walk(function.die); !walk.done();) {
    enclosing.resize(walk.depth() - 1, -1);
    const int caller = enclosing.empty() ? -1 : enclosing.back();
    if (walk.tag() == DW_TAG_inlined_subroutine) {
      const int index = static_cast<int>(tree.calls.size());
      tree.calls.push_back({*walk.die(), caller});
      for_each_range(walk.die(), [&](std::uint64_t begin, std::uint64_t end) {
        if (tree.innermost.pending() >= kMostRanges) return;
        tree.innermost.add(begin, end, index, static_cast<std::uint32_t>(walk.depth()));
      });
      enclosing.push_back(index);
      walk.enter();
    } else if (walk.tag() == DW_TAG_lexical_block) {
      enclosing.push_back(caller);
      walk.enter();
    } else {
      walk.skip();
    }
  }
  tree.innermost.finish();
  return tree;
}

std::string DwarfInfo::qualified(Dwarf_Die die) {
  std::string text = bounded(dwarf_diename(&die));
  Dwarf_Die unit_die;
  if (dwarf_diecu(&die, &unit_die, nullptr, nullptr) == nullptr) return text;
  if (has_plain_names(dwarf_srclang(&unit_die))) return text;
  const Scopes* scopes = &scopes_of(&unit_die);
  const int* found = scopes->scope_at.find(dwarf_dieoffset(&die));
  int scope = found != nullptr ? *found : -1;
  for (int i = 0; i < kDeepestScope && scope >= 0 && text.size() < kLongestText; ++i) {
    Dwarf_Die at = scopes->scopes[scope].die;
    Dwarf_Die named = at;
    // A member function's scopes are around its declaration.
    if (dwarf_tag(&at) == DW_TAG_subprogram) named = named_die(at);
    const std::string name = scope_name(&named, text == "operator()");
    if (!name.empty()) text.insert(0, name + "::");
    scope = scopes->scopes[scope].parent;
    if (named.addr == at.addr || dwarf_diecu(&named, &unit_die, nullptr, nullptr) == nullptr) {
      continue;
    }
    scopes = &scopes_of(&unit_die);
    found = scopes->scope_at.find(dwarf_dieoffset(&named));
    scope = found != nullptr ? *found : -1;
  }
  return text;
}

// No type is void. What has no size of its own (a reference, a class that is
// only declared) may hide a pointer.
static bool may_return_pointer(Dwarf_Die* function) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(function, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &type) == nullptr) {
    return false;
  }
  Dwarf_Die plain;
  if (dwarf_peel_type(&type, &plain) != 0) return true;
  const int tag = dwarf_tag(&plain);
  if (tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type) return true;
  return dwarf_bytesize(&plain) >= static_cast<int>(sizeof(void*));
}

const FunctionName& DwarfInfo::name_of(Dwarf_Die* die) {
  const auto [slot, fresh] = names_.try_emplace(die->addr);
  FunctionName& result = slot->second;
  if (!fresh) return result;
  result.line = position_of(die, DW_AT_decl_line);
  result.may_return_pointer = may_return_pointer(die);
  const char* linkage = string_of(die, DW_AT_linkage_name);
  if (linkage == nullptr) linkage = string_of(die, DW_AT_MIPS_linkage_name);
  result.linkage = bounded(linkage);
  Dwarf_Die unit_die;
  result.maybe_mangled = dwarf_diecu(die, &unit_die, nullptr, nullptr) != nullptr &&
                         !has_plain_names(dwarf_srclang(&unit_die));
  result.text = demangle_(result.linkage);
  if (!result.text.empty()) return result;

  // The scope is that of the DIE that has the name: for a definition outside
  // its class, the declaration inside it.
  result.text = qualified(named_die(*die));
  if (result.text.empty()) result.text = result.linkage;
  return result;
}

std::string DwarfInfo::full_path(Unit& unit, const char* file) {
  if (file == nullptr || *file == '\0') return {};
  const auto [slot, fresh] = unit.paths.try_emplace(file);
  if (fresh) {
    const std::string text = bounded(file);
    std::filesystem::path path(text);
    // libdw has put the directory of the line table before it, which may be
    // the unit's own or one below that. A unit's own can be relative, too.
    const bool complete = path.is_absolute() || unit.directory.empty() ||
                          (unit.directory.front() != '/' && text.starts_with(unit.directory + "/"));
    if (!complete) path = unit.directory / path;
    slot->second = path.lexically_normal().string();
  }
  return slot->second;
}

void DwarfInfo::set_line(Unit& unit, std::uint64_t address, SourcePlace& place) {
  if (unit.lines == nullptr) return;
  // The last row that begins at or before the address.
  std::size_t low = 0, high = unit.line_count;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    Dwarf_Addr begin = 0;
    if (dwarf_lineaddr(dwarf_onesrcline(unit.lines, middle), &begin) != 0) return;
    if (begin <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return;
  Dwarf_Line* row = dwarf_onesrcline(unit.lines, low - 1);
  bool end = false;
  if (row == nullptr || dwarf_lineendsequence(row, &end) != 0 || end) return;
  place.file = full_path(unit, dwarf_linesrc(row, nullptr, nullptr));
  int number = 0;
  if (dwarf_lineno(row, &number) == 0 && number > 0) {
    place.line = static_cast<std::uint32_t>(number);
    if (dwarf_linecol(row, &number) == 0 && number > 0) {
      place.column = static_cast<std::uint32_t>(number);
    }
  }
}

bool DwarfInfo::function_at(std::uint64_t address, Dwarf_Die& die, std::uint64_t& entry) {
  const std::size_t* index = unit_at_.find(address);
  if (index == nullptr) return false;
  Unit& unit = unit_ready(*index);
  const std::size_t* function = unit.scopes->function_at.find(address);
  if (function == nullptr) return false;
  die = unit.scopes->functions[*function].die;
  entry = unit.scopes->functions[*function].entry;
  return true;
}

void DwarfInfo::each_line(std::uint64_t begin, std::uint64_t end,
                          const std::function<void(const LineRow& row)>& use) {
  const std::size_t* index = unit_at_.find(begin);
  if (index == nullptr) return;
  Unit& unit = unit_ready(*index);
  if (unit.lines == nullptr) return;
  for (std::size_t i = 0; i < unit.line_count; ++i) {
    Dwarf_Line* row = dwarf_onesrcline(unit.lines, i);
    Dwarf_Addr pc = 0;
    int line = 0;
    if (dwarf_lineaddr(row, &pc) != 0 || pc < begin || pc >= end) continue;
    if (dwarf_lineno(row, &line) != 0 || line <= 0) continue;
    const char* file = dwarf_linesrc(row, nullptr, nullptr);
    use({pc, static_cast<std::uint32_t>(line), file == nullptr ? "" : file});
  }
}

void DwarfInfo::each_unit(const std::function<void(Dwarf_Die unit)>& use) {
  for (std::size_t i = 0; i < units_.size(); ++i) use(unit_ready(i).body);
}

std::vector<std::uint64_t> DwarfInfo::functions_beside(std::uint64_t address) {
  std::vector<std::uint64_t> entries;
  const std::size_t* index = unit_at_.find(address);
  if (index == nullptr) return entries;
  for (const Function& function : unit_ready(*index).scopes->functions) {
    entries.push_back(function.entry);
  }
  return entries;
}

std::vector<SourcePlace> DwarfInfo::find(std::uint64_t address, std::uint64_t& entry) {
  std::vector<SourcePlace> places;
  const std::size_t* index = unit_at_.find(address);
  if (index == nullptr) return places;
  Unit& unit = unit_ready(*index);
  places.emplace_back();
  set_line(unit, address, places.back());

  const std::size_t* function_index = unit.scopes->function_at.find(address);
  if (function_index == nullptr) return places;
  Function& function = unit.scopes->functions[*function_index];
  entry = function.entry;
  InlineTree& tree = inlines_of(function);
  const int* innermost = tree.innermost.find(address);
  for (int i = innermost != nullptr ? *innermost : -1; i >= 0; i = tree.calls[i].caller) {
    if (places.size() > kDeepestInlining) break;
    Dwarf_Die* call = &tree.calls[i].die;
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (dwarf_attr(call, DW_AT_abstract_origin, &attribute) == nullptr ||
        dwarf_formref_die(&attribute, &origin) == nullptr) {
      origin = *call;
    }
    places.back().function = &name_of(&origin);
    // The call is where the next frame out is.
    SourcePlace caller;
    if (const auto file = number_of(call, DW_AT_call_file); file && unit.files != nullptr) {
      caller.file = full_path(unit, dwarf_filesrc(unit.files, *file, nullptr, nullptr));
    }
    caller.line = position_of(call, DW_AT_call_line);
    if (caller.line) caller.column = position_of(call, DW_AT_call_column);
    places.push_back(std::move(caller));
  }
  places.back().function = &name_of(&function.die);
  return places;
}

}  // namespace plumb
