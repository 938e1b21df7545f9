#include "base/demangle.h"

#include <gtest/gtest.h>

#include <chrono>

namespace plumb {
namespace {

// f(A, B<A, A>, B<B<A, A>, B<A, A>>, ...): each parameter twice as long as the
// one before.
std::string doubling(int times) {
  const auto substitution = [](int index) -> std::string {
    if (index == 0) return "S_";
    std::string digits;
    for (int rest = index - 1; digits.empty() || rest > 0; rest /= 36) {
      const int digit = rest % 36;
      digits.insert(digits.begin(), static_cast<char>(digit < 10 ? '0' + digit : 'A' + digit - 10));
    }
    return "S" + digits + "_";
  };
  std::string name = "_Z1f1A1BIS_S_E";
  for (int i = 1; i < times; ++i) {
    const std::string last = substitution(i + 1);
    name += "S0_I" + last + last + "E";
  }
  return name;
}

TEST(Demangle, ShowsParameters) {
  Demangler demangle;
  EXPECT_EQ(demangle("_ZN4shop4Till4openEi"), "shop::Till::open(int)");
  EXPECT_EQ(demangle("_Znwm"), "operator new(unsigned long)");
  EXPECT_EQ(demangle("_Z3foov.cold"), "foo() [clone .cold]");
}

TEST(Demangle, LeavesTheRestAlone) {
  Demangler demangle;
  EXPECT_EQ(demangle("main"), "");
  EXPECT_EQ(demangle(""), "");
  EXPECT_EQ(demangle("_Z"), "");
  EXPECT_EQ(demangle("_Zwhat"), "");
  EXPECT_EQ(demangle(std::string("_Z3foov\0bar", 11)), "foo()");
}

TEST(Demangle, HostileNamesAreBounded) {
  Demangler demangle;
  EXPECT_NE(demangle(doubling(8)), "");
  EXPECT_EQ(demangle(doubling(60)), "");
  EXPECT_EQ(demangle("_Z1f" + std::string(100'000, 'P') + "i"), "");
  EXPECT_EQ(demangle("_Z1f" + std::string(5'000, 'P') + "i"), "");
  const auto start = std::chrono::steady_clock::now();
  // The first of these is expanded and thrown away; the others are not tried.
  for (int i = 0; i < 200; ++i) EXPECT_EQ(demangle(doubling(14)), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_NE(demangle(doubling(8)), "");
}

TEST(Demangle, VersionsAndClones) {
  EXPECT_EQ(without_version("malloc@@GLIBC_2.2.5"), "malloc");
  EXPECT_EQ(without_version("malloc"), "malloc");
  EXPECT_EQ(without_version("@odd"), "@odd");
  EXPECT_EQ(without_clone_suffix("_Z3fooi.constprop.0"), "_Z3fooi");
  EXPECT_EQ(without_clone_suffix("foo"), "foo");
}

}  // namespace
}  // namespace plumb
