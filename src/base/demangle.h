// Mangled C++ names to readable ones, by the compiler's own demangler.
//
// A symbol name is somebody's input. A name of 200 characters can stand for
// gigabytes of text, since each substitution in it may double what came
// before. So names are bounded in length and in substitutions, and the first
// name that expands beyond reason lowers the bound for those that follow.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plumb {

class Demangler {
 public:
  // Empty when the name is not mangled, or not one that we undertake.
  std::string operator()(std::string_view symbol);

  static bool is_mangled(std::string_view symbol);

 private:
  std::size_t max_substitutions_ = 44;
};

// "malloc@@GLIBC_2.2.5" -> "malloc".
std::string_view without_version(std::string_view symbol);

// "_Z3fooi.constprop.0" -> "_Z3fooi": the function that a compiler's copy or
// cold part belongs to.
std::string_view without_clone_suffix(std::string_view symbol);

}  // namespace plumb
