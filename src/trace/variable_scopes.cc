// The source functions and blocks that variables belong to: which frames at an
// instruction are inside of them, and where they end.
#include <algorithm>
#include <cstring>

#include "trace/inlined_call.h"
#include "trace/variables.h"
#include "trace/variables_inside.h"

namespace plumb {

std::optional<std::size_t> Variables::frames_inside(const FoundVariable& variable,
                                                    std::uint64_t pc) {
  const auto place = functions_.find(variable.function);
  if (place == functions_.end()) return std::nullopt;
  const Function& function = *place->second;
  const std::size_t home = function.function_scope(function.variables[variable.index].scope);
  std::size_t count = 0;
  for (std::size_t scope = function.innermost(pc); scope != home; ++count) {
    const int parent = function.scopes[scope].parent;
    if (parent < 0) return std::nullopt;
    scope = function.function_scope(static_cast<std::size_t>(parent));
  }
  if (!any_has(function.scopes[home].ranges, pc)) return std::nullopt;
  return count;
}

std::optional<std::size_t> Variables::frames_of_setter(const FoundVariable& variable,
                                                       std::uint64_t pc) {
  std::optional<std::size_t> inside = frames_inside(variable, pc);
  if (!inside) return std::nullopt;
  const Function& function = *functions_.find(variable.function)->second;
  std::vector<std::size_t> calls;  // innermost first
  for (std::size_t scope = function.innermost(pc); calls.size() < *inside;) {
    calls.push_back(scope);
    scope = function.caller_of(scope);
  }
  while (*inside != 0 && is_given(function.scopes[calls[*inside - 1]].die, variable.type)) {
    --*inside;
  }
  return inside;
}

std::size_t Variables::frames_looking(std::uint64_t pc, std::uint64_t other) {
  const Function* function = function_at(pc);
  if (function == nullptr || function_at(other) != function) return 0;
  std::size_t count = 0;
  std::size_t scope = function->innermost(pc);
  for (; scope != 0 && !any_has(function->scopes[scope].ranges, other) &&
         is_const_member(function->scopes[scope].die);
       ++count) {
    scope = function->caller_of(scope);
  }
  return count;
}

std::optional<std::size_t> Variables::frames_after(const FoundVariable& variable,
                                                   std::uint64_t pc) {
  const auto place = functions_.find(variable.function);
  if (place == functions_.end()) return std::nullopt;
  const Function& function = *place->second;
  std::size_t home = function.function_scope(function.variables[variable.index].scope);
  while (!any_has(function.scopes[home].ranges, pc)) {
    if (home == 0 || !gives_pointer(function.scopes[home].die)) return std::nullopt;
    home = function.caller_of(home);
  }
  std::size_t count = 0;
  for (std::size_t scope = function.innermost(pc); scope != home; ++count) {
    if (scope == 0) return std::nullopt;
    scope = function.caller_of(scope);
  }
  return count;
}

std::optional<std::size_t> Variables::frames_given(const FoundVariable& variable,
                                                   std::uint64_t pc) {
  std::optional<std::size_t> count = frames_inside(variable, pc);
  if (!count) return std::nullopt;
  const Function& function = *functions_.find(variable.function)->second;
  std::size_t home = function.function_scope(function.variables[variable.index].scope);
  if (home == 0 || !gives_pointer(function.scopes[home].die)) return std::nullopt;
  while (home != 0 && gives_pointer(function.scopes[home].die)) {
    ++*count;
    home = function.caller_of(home);
  }
  return count;
}

std::size_t Variables::frames_without(std::uint64_t pc, std::uint64_t other) {
  const Function* function = function_at(pc);
  if (function == nullptr || function_at(other) != function) return 0;
  std::size_t count = 0;
  for (std::size_t scope = function->innermost(pc);
       scope != 0 && !any_has(function->scopes[scope].ranges, other); ++count) {
    scope = function->caller_of(scope);
  }
  return count;
}

std::size_t Variables::frames_giving(std::uint64_t pc, std::uint64_t other) {
  const Function* function = function_at(pc);
  if (function == nullptr || function_at(other) != function) return 0;
  std::size_t best = 0;
  std::size_t count = 0;
  for (std::size_t scope = function->innermost(pc); scope != 0;) {
    ++count;
    if (any_has(function->scopes[scope].ranges, other)) {
      if (!gives_pointer(function->scopes[scope].die)) break;
      best = count;
    }
    scope = function->caller_of(scope);
  }
  return best;
}

std::optional<std::uint64_t> Variables::next_line(std::uint64_t pc, std::size_t inside,
                                                  std::uint64_t line,
                                                  const std::vector<CodeRange>& ran) {
  const Function* function = function_at(pc);
  if (function == nullptr) return std::nullopt;
  std::size_t home = function->innermost(pc);
  for (; inside != 0 && home != 0; --inside) {
    home = function->caller_of(home);
  }
  Dwarf_Die die = function->scopes[home].die;
  const char* file = dwarf_decl_file(&die);
  if (file == nullptr) return std::nullopt;
  std::optional<std::uint64_t> next;
  for (const CodeRange& range : ran) {
    dwarf_.each_line(range.begin, range.end, [&](const LineRow& row) {
      if (!next && row.line > line && is_own_line(*function, home, row.line) &&
          std::strcmp(row.file, file) == 0) {
        next = row.line;
      }
    });
    if (next) return next;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Variables::end_of(const Function& function, std::size_t scope) {
  const std::size_t home = function.function_scope(scope);
  std::optional<std::uint64_t> best;
  std::uint64_t best_line = 0;
  for (const Range& range : function.scopes[scope].ranges) {
    dwarf_.each_line(range.begin, range.end, [&](const LineRow& row) {
      const std::uint64_t line = function.line_in(home, row.pc, row.line);
      if (line < best_line || line == 0 || !is_own_line(function, home, line)) return;
      best_line = line;
      best = row.pc;
    });
  }
  return best;
}

std::optional<std::uint64_t> Variables::scope_end(const FoundVariable& variable) {
  const auto place = functions_.find(variable.function);
  if (place == functions_.end()) return std::nullopt;
  return end_of(*place->second, place->second->variables[variable.index].scope);
}

std::optional<std::pair<std::uint64_t, std::size_t>> Variables::inlined_end(std::uint64_t pc) {
  const Function* function = function_at(pc);
  if (function == nullptr) return std::nullopt;
  std::size_t scope = function->innermost(pc);
  if (scope == 0) return std::nullopt;
  while (true) {
    const std::size_t outer = function->caller_of(scope);
    if (outer == 0) break;
    scope = outer;
  }
  const std::optional<std::uint64_t> end = end_of(*function, scope);
  if (!end) return std::nullopt;
  std::size_t inside = 0;
  for (std::size_t at = function->innermost(*end); at != scope; ++inside) {
    if (function->scopes[at].parent < 0) return std::nullopt;
    at = function->caller_of(at);
  }
  return std::pair(*end, inside);
}

std::optional<std::uint32_t> Variables::ends_block(const FoundVariable& variable,
                                                   std::uint64_t pc) {
  constexpr std::uint64_t kInstruction = 6;  // a call or a jump
  const auto place = functions_.find(variable.function);
  if (place == functions_.end()) return std::nullopt;
  const Function& function = *place->second;
  const Variable& it = function.variables[variable.index];
  const Scope& scope = function.scopes[it.scope];
  const bool at_end = std::ranges::any_of(scope.ranges, [&](const Range& range) {
    return range.has(pc) && range.end - pc <= kInstruction;
  });
  if (scope.is_function || !at_end) return std::nullopt;
  Dwarf_Die die = it.die;
  const std::uint64_t line = line_of(&die, DW_AT_decl_line);
  if (line == 0) return std::nullopt;
  return static_cast<std::uint32_t>(line);
}

bool Variables::is_inner_declaration(const FoundVariable& variable, std::uint64_t line) {
  const auto place = functions_.find(variable.function);
  if (place == functions_.end()) return false;
  const Function& function = *place->second;
  const Variable& it = function.variables[variable.index];
  if (function.scopes[it.scope].is_function) return false;
  Dwarf_Die die = it.die;
  return line_of(&die, DW_AT_decl_line) == line;
}

bool Variables::is_own_line(const FoundVariable& variable, std::uint64_t line) {
  const auto place = functions_.find(variable.function);
  if (place == functions_.end()) return false;
  const Function& function = *place->second;
  return is_own_line(function, function.function_scope(function.variables[variable.index].scope),
                     line);
}

bool Variables::is_own_line(const Function& function, std::size_t scope, std::uint64_t line) const {
  const std::uint64_t own = function.scopes[scope].declared;
  if (line < own) return false;
  return std::ranges::none_of(function.scopes, [&](const Scope& other) {
    return other.is_function && other.declared > own && other.declared <= line;
  });
}

}  // namespace plumb
