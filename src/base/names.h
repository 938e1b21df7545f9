// One table per enumeration gives both directions: value to word, word to
// value. The words are the ones of the report and of the command line.
//
//   template <> inline constexpr auto kNames<Kind> =
//       name_table<Kind>({{Kind::lost, "lost"}, ...});
//   name_of(Kind::lost) == "lost";  value_of<Kind>("lost") == Kind::lost
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace plumb {

template <typename Enum, std::size_t N>
constexpr std::array<std::pair<Enum, std::string_view>, N> name_table(
    const std::pair<Enum, std::string_view> (&entries)[N]) {
  return std::to_array(entries);
}

template <typename Enum>
inline constexpr int kNames = 0;  // specialised beside each enumeration

template <typename Enum>
constexpr std::string_view name_of(Enum value) {
  for (const auto& [candidate, name] : kNames<Enum>) {
    if (candidate == value) return name;
  }
  return "?";
}

template <typename Enum>
constexpr std::optional<Enum> value_of(std::string_view name) {
  for (const auto& [value, candidate] : kNames<Enum>) {
    if (candidate == name) return value;
  }
  return std::nullopt;
}

}  // namespace plumb
