#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace plumb {
namespace {

constexpr std::size_t kLongestSymbol = 8 << 10;
constexpr std::size_t kLongestName = 64 << 10;
// Two substitutions double the text, so this many keep it below a megabyte.
constexpr std::size_t kCautiousSubstitutions = 24;

// "S_", "S3A_", "T_", "T0_": references to what the name said before. Letters
// inside identifiers are counted too, which only makes the bound stricter.
std::size_t count_substitutions(std::string_view symbol) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < symbol.size(); ++i) {
    if (symbol[i] != 'S' && symbol[i] != 'T') continue;
    std::size_t j = i + 1;
    while (j < symbol.size() &&
           ((symbol[j] >= '0' && symbol[j] <= '9') || (symbol[j] >= 'A' && symbol[j] <= 'Z'))) {
      ++j;
    }
    if (j < symbol.size() && symbol[j] == '_') {
      ++count;
      i = j;
    }
  }
  return count;
}

}  // namespace

bool Demangler::is_mangled(std::string_view symbol) { return symbol.starts_with("_Z"); }

std::string Demangler::operator()(std::string_view symbol) {
  if (!is_mangled(symbol) || symbol.size() > kLongestSymbol) return {};
  if (count_substitutions(symbol) > max_substitutions_) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), &std::free);
  if (!name || status != 0) return {};
  if (strnlen(name.get(), kLongestName + 1) > kLongestName) {
    max_substitutions_ = kCautiousSubstitutions;
    return {};
  }
  return name.get();
}

std::string_view without_version(std::string_view symbol) {
  const std::size_t at = symbol.find('@');
  return at == 0 ? symbol : symbol.substr(0, at);
}

std::string_view without_clone_suffix(std::string_view symbol) {
  const std::size_t dot = symbol.find('.');
  return dot == 0 ? symbol : symbol.substr(0, dot);
}

}  // namespace plumb
