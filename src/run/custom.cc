#include "run/custom.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "trace/find_function.h"

namespace plumb {

Result<CustomFunction> parse_custom_function(const std::string& text, bool frees) {
  CustomFunction function;
  function.frees = frees;
  function.name = text;
  const std::string_view option = frees ? "--free-fn" : "--alloc-fn";
  const std::string_view key = frees ? ":ptr=" : ":size=";
  bool good = true;
  if (const std::size_t at = text.rfind(key); at != std::string::npos) {
    const std::string_view digits = std::string_view(text).substr(at + key.size());
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), function.argument);
    good = problem == std::errc() && end == digits.data() + digits.size() &&
           function.argument >= 1 && function.argument <= 6;
    function.name = text.substr(0, at);
  }
  constexpr std::size_t kLongest = 120;
  if (!good || function.name.empty() || function.name.size() > kLongest) {
    return fail(std::string(option), fmt::format("cannot read '{}'", text),
                fmt::format("name a function, and which argument counts (1 to 6): {}=NAME{}1",
                            option, key));
  }
  return function;
}

std::string setting_for(const CustomFunction& function, const std::string& program) {
  const std::string head = fmt::format("fn={}{}", function.frees ? 'f' : 'a', function.argument);
  const std::optional<std::uint64_t> address = find_function(program, function.name);
  if (address) return fmt::format("{}@{:x}", head, *address);
  return fmt::format("{}={}", head, function.name);
}

}  // namespace plumb
