#include "driver/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumb {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const Toolchain kTools{"/bin/clang-19", "/lib/pass.so", "/lib/plumb/runtime.so", "", ""};

std::vector<std::string> words_for(const std::vector<std::string>& arguments) {
  const Result<CompilerCall> call = compiler_call(kTools, arguments);
  EXPECT_TRUE(call) << call.error().what;
  return call ? call->words : std::vector<std::string>{};
}

TEST(Compile, AddsThePassAndTheRuntime) {
  const std::vector<std::string> words = words_for({"-g", "a.c", "-o", "a"});
  EXPECT_EQ(words.front(), "/bin/clang-19");
  EXPECT_THAT(words, Contains("-fpass-plugin=/lib/pass.so"));
  EXPECT_THAT(words, Contains("-Wl,/lib/plumb/runtime.so"));
  EXPECT_THAT(words, Contains("-Wl,-rpath,/lib/plumb"));
}

TEST(Compile, LinksNothingWhereNothingIsLinked) {
  for (const char* word : {"-c", "-S", "-E", "-M", "-fsyntax-only"}) {
    EXPECT_THAT(words_for({word, "a.c"}), Not(Contains("-Wl,/lib/plumb/runtime.so"))) << word;
  }
  EXPECT_THAT(words_for({"-r", "a.o", "-o", "b.o"}), Not(Contains("-Wl,/lib/plumb/runtime.so")));
}

TEST(Compile, LeavesQuestionsAlone) {
  EXPECT_THAT(words_for({"--version"}), ElementsAre("/bin/clang-19", "--version"));
  EXPECT_THAT(words_for({"-v"}), ElementsAre("/bin/clang-19", "-v"));
  EXPECT_THAT(words_for({"-o", "a"}), ElementsAre("/bin/clang-19", "-o", "a"));
}

TEST(Compile, KeepsTheOrderOfWhatWasWritten) {
  const std::vector<std::string> given = {"-x", "c", "-", "-la", "b.o", "-lc", "@more"};
  std::vector<std::string> words = words_for(given);
  EXPECT_NE(std::search(words.begin(), words.end(), given.begin(), given.end()), words.end());
}

TEST(Compile, TakesItsOwnLevelOut) {
  const std::vector<std::string> words = words_for({"-fplumb=minimal", "a.c"});
  EXPECT_THAT(words, Not(Contains("-fplumb=minimal")));
  EXPECT_THAT(words, Not(Contains("-fpass-plugin=/lib/pass.so")));
  EXPECT_THAT(words, Contains("-Wl,/lib/plumb/runtime.so"));
  EXPECT_FALSE(compiler_call(kTools, {"-fplumb=most", "a.c"}));
  EXPECT_FALSE(compiler_call(kTools, {"a.c"})->stacks);
  EXPECT_TRUE(compiler_call(kTools, {"-fplumb=stacks", "a.c"})->stacks);
  EXPECT_FALSE(compiler_call(kTools, {"a.c"})->access);
  EXPECT_TRUE(compiler_call(kTools, {"-fplumb=access", "a.c"})->access);
  const Result<CompilerCall> both = compiler_call(kTools, {"-fplumb=stacks,access", "a.c"});
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->stacks && both->access);
  EXPECT_FALSE(compiler_call(kTools, {"-fplumb=stacks,minimal", "a.c"}));
  EXPECT_FALSE(compiler_call(kTools, {"-fplumb=stacks,", "a.c"}));
}

TEST(Compile, StaysOutWhereItCannotWork) {
  EXPECT_THAT(words_for({"-m32", "a.c"}), ElementsAre("/bin/clang-19", "-m32", "a.c"));
  const Result<CompilerCall> other = compiler_call(kTools, {"-fsanitize=undefined,address", "a.c"});
  ASSERT_TRUE(other);
  EXPECT_THAT(other->remark, HasSubstr("its own malloc"));
  EXPECT_THAT(other->words, Not(Contains("-fpass-plugin=/lib/pass.so")));
  EXPECT_THAT(words_for({"-fsanitize=undefined", "a.c"}), Contains("-fpass-plugin=/lib/pass.so"));
  EXPECT_FALSE(compiler_call(kTools, {"-static", "a.c"}));
  EXPECT_TRUE(compiler_call(kTools, {"-static", "-c", "a.c"}));
}

}  // namespace
}  // namespace plumb
