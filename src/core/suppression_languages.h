// The three languages of suppression.h, one parser each, and what they share.
// The text is well-formed UTF-8 without NUL (parse_suppressions sees to it).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/suppression.h"

namespace plumb {

Result<std::vector<Suppression>> parse_toml_suppressions(std::string_view text,
                                                         std::string_view file);
Result<std::vector<Suppression>> parse_valgrind_suppressions(std::string_view text,
                                                             std::string_view file);
Result<std::vector<Suppression>> parse_lsan_suppressions(std::string_view text,
                                                         std::string_view file);

// "FILE:LINE"
std::string place_in(std::string_view file, std::size_t line);

// The lines that say something: trimmed, not blank, no # comment.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // The next such line, or false at the end. After it, text() and number().
  bool next();
  std::string_view text() const { return line_; }
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::size_t number_ = 0;
};

}  // namespace plumb
