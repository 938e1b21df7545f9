// Function names as compilers and demanglers write them, reduced to what the
// source says.
//
// The input is any symbol or demangled name, also a hostile one: everything
// here is linear and needs no well-formed name.
#pragma once

#include <string>
#include <string_view>

namespace plumb {

// Without what the compiler or the build adds: clone suffixes (".isra.0",
// " [clone .cold]", ".llvm.123"), ABI tags, symbol versions, the numbers of
// lambdas and unnamed types (an edit above renumbers them), extra blanks.
//   "foo(int) [clone .isra.0]" -> "foo(int)"
//   "ns::name[abi:cxx11]()"    -> "ns::name()"
std::string normalised_function(std::string_view function);

// A part of a normalised name: without the parameter list and the return type
// that templates have in front.
//   "void ns::grow<int>(int) const" -> "ns::grow<int>"
std::string_view function_stem(std::string_view normalised);

// "std::allocator<int>::allocate" -> "std::allocator::allocate".
std::string without_template_arguments(std::string_view name);

}  // namespace plumb
