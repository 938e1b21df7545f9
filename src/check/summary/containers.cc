#include "check/summary/containers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "core/function_name.h"

namespace plumb::check {

namespace {

constexpr std::array<std::pair<std::string_view, ContainerEffect>, 9> kEffects = {{
    {"takes", ContainerEffect::takes},
    {"gives", ContainerEffect::gives},
    {"begins", ContainerEffect::begins},
    {"finishes", ContainerEffect::finishes},
    {"swaps", ContainerEffect::swaps},
    {"counts", ContainerEffect::counts},
    {"asks-empty", ContainerEffect::asks_empty},
    {"empties", ContainerEffect::empties},
    {"nothing", ContainerEffect::nothing},
}};

// Namespaces that a library puts in for its versions.
std::string without_versions(std::string name) {
  for (const std::string_view version : {"__cxx11::", "__1::"}) {
    for (std::size_t at = name.find(version); at != std::string::npos; at = name.find(version)) {
      name.erase(at, version.size());
    }
  }
  return name;
}

// "std::vector<char*, std::allocator<char*> >::push_back", in its parts.
struct Member {
  std::string_view of;  // "std::vector"
  std::vector<std::string_view> arguments;
  std::string_view name;
};

std::optional<Member> parts_of(std::string_view stem) {
  const std::size_t open = stem.find('<');
  if (open == std::string_view::npos) return std::nullopt;
  Member out{stem.substr(0, open), {}, {}};
  int depth = 0;
  std::size_t from = open + 1;
  for (std::size_t i = open; i < stem.size(); ++i) {
    const char c = stem[i];
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (depth == 0 || (depth == 1 && c == ',')) {
      out.arguments.push_back(trim(stem.substr(from, i - from)));
      from = i + 1;
    }
    if (depth == 0) break;
  }
  if (depth != 0 || !stem.substr(from).starts_with("::")) return std::nullopt;
  out.name = stem.substr(from + 2);
  if (out.name.find("::") != std::string_view::npos) return std::nullopt;
  if (!out.name.starts_with("operator")) out.name = out.name.substr(0, out.name.find('<'));
  return out;
}

bool is_pointer(std::string_view type) { return type.ends_with('*'); }

// The element of a map is a pair.
bool is_pair_with_pointer(std::string_view type) {
  if (!type.starts_with("std::pair<") || !type.ends_with('>')) return false;
  return is_pointer(trim(type.substr(0, type.size() - 1)));
}

std::string_view last_part(std::string_view name) {
  const std::size_t at = name.rfind("::");
  return at == std::string_view::npos ? name : name.substr(at + 2);
}

}  // namespace

Result<void> Containers::add(const ModelText& models) {
  std::size_t number = 0;
  for (const std::string_view raw : split(models.text, '\n')) {
    ++number;
    const std::string_view line = trim(raw.substr(0, raw.find('#')));
    if (line.empty()) continue;
    const std::size_t blank = line.find(' ');
    const std::string_view name = line.substr(0, blank);
    const std::string_view said =
        blank == std::string_view::npos ? std::string_view{} : trim(line.substr(blank));
    const auto wrong = [&] {
      return fail(fmt::format("{}:{}", models.where, number), fmt::format("no effect \"{}\"", said),
                  "write CLASS container:N, CLASS iterator:N or .MEMBER EFFECT");
    };
    if (name.starts_with('.')) {
      const auto effect =
          std::ranges::find(kEffects, said, &std::pair<std::string_view, ContainerEffect>::first);
      if (effect == kEffects.end()) return wrong();
      members_.insert_or_assign(std::string(name.substr(1)), effect->second);
      continue;
    }
    const std::size_t colon = said.find(':');
    const std::string_view kind = said.substr(0, colon);
    std::size_t argument = 0;
    if (colon != std::string_view::npos) {
      const std::string_view digits = said.substr(colon + 1);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), argument);
      if (error != std::errc() || end != digits.data() + digits.size()) argument = 0;
    }
    if (argument == 0 || (kind != "container" && kind != "iterator")) return wrong();
    classes_.insert_or_assign(std::string(name), Class{argument - 1, kind == "iterator"});
  }
  return {};
}

bool is_member_of_container(std::string_view symbol) {
  constexpr std::array kClasses = std::to_array<std::string_view>({"6vectorI",
                                                                   "12_Vector_baseI",
                                                                   "5dequeI",
                                                                   "11_Deque_baseI",
                                                                   "4listI",
                                                                   "10_List_baseI",
                                                                   "12forward_listI",
                                                                   "14_Fwd_list_baseI",
                                                                   "3mapI",
                                                                   "8multimapI",
                                                                   "3setI",
                                                                   "8multisetI",
                                                                   "8_Rb_treeI",
                                                                   "13unordered_mapI",
                                                                   "18unordered_multimapI",
                                                                   "13unordered_setI",
                                                                   "18unordered_multisetI",
                                                                   "10_HashtableI",
                                                                   "9_Map_baseI",
                                                                   "12_Insert_baseI",
                                                                   "7_InsertI",
                                                                   "12basic_stringI"});
  const auto skip = [&](std::string_view prefix) {
    const bool there = symbol.starts_with(prefix);
    if (there) symbol.remove_prefix(prefix.size());
    return there;
  };
  if (!skip("_ZN")) return false;
  skip("K");
  if (!skip("St")) return false;
  if (!skip("7__cxx11")) skip("8__detail");
  return std::ranges::any_of(kClasses,
                             [&](std::string_view each) { return symbol.starts_with(each); });
}

std::optional<ContainerEffect> Containers::find(const std::string& symbol,
                                                Demangler& demangle) const {
  const bool possible = std::ranges::any_of(classes_, [&](const auto& each) {
    const std::string_view last = last_part(each.first);
    return symbol.find(fmt::format("{}{}", last.size(), last)) != std::string::npos;
  });
  if (!possible) return std::nullopt;
  const std::string name = without_versions(normalised_function(demangle(symbol)));
  const std::string_view stem = function_stem(name);
  const std::optional<Member> member = parts_of(stem);
  if (!member || member->name.empty() || member->name.starts_with('_')) return std::nullopt;
  const auto of = classes_.find(std::string(member->of));
  if (of == classes_.end() || of->second.element >= member->arguments.size()) return std::nullopt;
  const std::string_view element = member->arguments[of->second.element];
  if (of->second.iterator) {
    if (!is_pointer(element) && !is_pair_with_pointer(element)) return std::nullopt;
    const bool steps = member->name == "operator++" || member->name == "operator--";
    return steps ? std::optional(ContainerEffect::steps) : std::nullopt;
  }
  if (!is_pointer(element)) return std::nullopt;
  if (member->name.starts_with('~')) return ContainerEffect::ends;
  const bool constructs = member->name == last_part(member->of);
  if (constructs || member->name == "operator=") {
    const std::size_t end = static_cast<std::size_t>(stem.data() - name.data()) + stem.size();
    const std::string_view parameters = std::string_view(name).substr(end);
    const bool same = parameters.substr(std::min<std::size_t>(1, parameters.size()))
                          .starts_with(fmt::format("{}<", member->of));
    if (!same) return parameters == "()" ? ContainerEffect::starts : ContainerEffect::takes;
    return parameters.find(" const&") != std::string_view::npos ? ContainerEffect::copies
                                                                : ContainerEffect::moves;
  }
  const auto known = members_.find(std::string(member->name));
  return known == members_.end() ? ContainerEffect::unknown : known->second;
}

}  // namespace plumb::check
