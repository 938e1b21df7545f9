#include "core/function_name.h"

#include <gtest/gtest.h>

namespace plumb {
namespace {

TEST(NormalisedFunction, DropsWhatTheCompilerAdds) {
  const std::pair<const char*, const char*> cases[] = {
      {"foo", "foo"},
      {"foo(int)", "foo(int)"},
      {"foo.isra.0", "foo"},
      {"foo.constprop.0.isra.3", "foo"},
      {"foo.part.0.cold", "foo"},
      {"foo.cold.12", "foo"},
      {"foo.llvm.1234567890", "foo"},
      {"foo.lto_priv.0", "foo"},
      {"foo.1234", "foo"},
      {"foo(int) [clone .isra.0]", "foo(int)"},
      {"foo(int) [clone .isra.0] [clone .cold]", "foo(int)"},
      {"foo(int) (.cold)", "foo(int)"},
      {"ns::name[abi:cxx11]()", "ns::name()"},
      {"ns::name[abi:cxx11][abi:v2](int)", "ns::name(int)"},
      {"std::vector<int, std::allocator<int> >::f()", "std::vector<int, std::allocator<int>>::f()"},
      {"  foo \t (int)\n", "foo (int)"},
      {"malloc@@GLIBC_2.2.5", "malloc"},
      {"main::{lambda(int)#2}::operator()(int) const",
       "main::{lambda(int)}::operator()(int) const"},
      {"main::'lambda3'(int)::operator()(int) const", "main::'lambda'(int)::operator()(int) const"},
      {"main::$_17::operator()() const", "main::$_::operator()() const"},
      {"foo({unnamed type#4})", "foo({unnamed type})"},
      {"__cxx_global_var_init.7", "__cxx_global_var_init"},
  };
  for (const auto& [from, to] : cases) EXPECT_EQ(normalised_function(from), to);
}

TEST(NormalisedFunction, KeepsWhatTheSourceSays) {
  for (const char* name :
       {"foo2", "foo(int [3])", "a::operator[](int)", "operator new(unsigned long)",
        "(anonymous namespace)::f(int)", "x.y", "foo.bar", "f(char [5])", "tag<1>::g(int (&) [2])",
        ".hidden", "{lambda}", "a#b", "x'lambda"}) {
    EXPECT_EQ(normalised_function(name), name);
  }
}

TEST(NormalisedFunction, TakesAnyBytesInLinearTime) {
  EXPECT_EQ(normalised_function(""), "");
  EXPECT_EQ(normalised_function("   "), "");
  EXPECT_EQ(normalised_function("@"), "@");
  std::string tags = "]";
  std::string digits(300'000, '1');
  std::string groups;
  for (int i = 0; i < 100'000; ++i) {
    tags += "[abi:";
    groups += " [clone .cold]";
  }
  EXPECT_EQ(normalised_function(tags), tags);
  EXPECT_EQ(normalised_function("x" + digits), "x" + digits);
  EXPECT_EQ(normalised_function("f" + groups), "f");
}

TEST(FunctionStem, LeavesTheQualifiedName) {
  const std::pair<const char*, const char*> cases[] = {
      {"foo", "foo"},
      {"foo(int)", "foo"},
      {"ns::foo(int (*)(char)) const", "ns::foo"},
      {"void ns::grow<int>(int) const &", "ns::grow<int>"},
      {"unsigned long ns::g<a, b>(int)", "ns::g<a, b>"},
      {"operator new(unsigned long)", "operator new"},
      {"a::operator()(int) const", "a::operator()"},
      {"a::operator()", "a::operator()"},
      {"a::operator unsigned long() const", "a::operator unsigned long"},
      {"std::ostream& ns::operator<< <int>(std::ostream&, int)", "ns::operator<< <int>"},
      {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
      {"a::f() const::{lambda()}::operator()() const", "a::f() const::{lambda()}::operator()"},
      {"(((", "((("},
      {")))", ")))"},
      {"", ""},
  };
  for (const auto& [from, to] : cases) EXPECT_EQ(function_stem(from), to);
}

TEST(WithoutTemplateArguments, TakesNestedOnes) {
  EXPECT_EQ(without_template_arguments("std::allocator<a<b>>::allocate"),
            "std::allocator::allocate");
  EXPECT_EQ(without_template_arguments("f"), "f");
  EXPECT_EQ(without_template_arguments("f<<<"), "f");
  EXPECT_EQ(without_template_arguments("f>>g"), "f>>g");
}

}  // namespace
}  // namespace plumb
