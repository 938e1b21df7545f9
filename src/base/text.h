// Small operations on text that several folders need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

// 4096 -> "4,096".
std::string with_commas(std::uint64_t number);

// Three digits, and all of the whole part: "0.0104", "2.5", "1,234".
std::string number_text(double value);

// (1, "block") -> "1 block", (2000, "block") -> "2,000 blocks".
std::string count_of(std::uint64_t number, std::string_view noun);

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);

// The last component of a path.
std::string_view base_name(std::string_view path);

// Glob with `*` (any run, also across '/'), `?` (one character) and `\` as
// escape. Linear in practice, never exponential.
bool glob_match(std::string_view pattern, std::string_view text);

// The candidate that is fewest edits away, or empty when none is near enough
// to be what the user meant.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// "4k", "1M", "2G" (powers of 1024) or plain bytes; nullopt on anything else.
std::optional<std::uint64_t> parse_size(std::string_view text);

// "250ms", "2s", "1m", "0.5s" as seconds; a plain number is seconds.
std::optional<double> parse_duration(std::string_view text);

// True when the bytes are well-formed UTF-8.
bool is_utf8(std::string_view bytes);

// A copy that is well-formed UTF-8: each bad byte becomes U+FFFD.
std::string to_utf8(std::string_view bytes);

}  // namespace plumb
