// Names of variables, by the place that debug information gives them.
#include "trace/variables.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "trace/symbolise.h"
#include "trace/symbolise_testing.h"

namespace plumb {
namespace {

// Prints where its variables are: globals by address, locals by their distance
// from the frame's CFA.
constexpr const char* kSource = R"(
#include <stdio.h>
struct Part { int kind; union { char *text; long number; } as; };
struct Whole { struct Part parts[3]; char *name; };
struct Whole g_whole;
__thread char *t_before;
__thread char *t_name;
static void show(const char *tag, const void *place, const void *from) {
  printf("%s %ld\n", tag, (long)((const char *)place - (const char *)from));
}
extern char __executable_start;
__attribute__((noinline)) static void work(struct Whole *whole, char **out) {
  char *cfa = __builtin_dwarf_cfa();
  char *local = 0;
  struct Whole own = {0};
here:
  show("pc", &&here, &__executable_start);
  show("local", &local, cfa);
  show("own", &own.parts[1].as.text, cfa);
  show("whole", &whole, cfa);
  show("out", &out, cfa);
}
int main(void) {
  show("global", &g_whole.parts[2].as, &__executable_start);
  show("plain", &g_whole.name, &__executable_start);
  show("thread", &t_name, __builtin_thread_pointer());
  char *result = 0;
  work(&g_whole, &result);
}
)";

class VariablesOf : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!have_tool(GetParam())) GTEST_SKIP() << GetParam() << " is not installed";
    shop_.write("v.c", kSource);
    shop_.run(GetParam() + " -g -O0 v.c -o v");
    std::istringstream lines(shop_.run("./v"));
    std::string tag;
    for (std::int64_t value = 0; lines >> tag >> value;) marks_[tag] = value;
    symbols_.emplace(std::vector{module_of(shop_.at("v"))});
    variables_ = symbols_->variables(ModuleId::of(0));
    ASSERT_NE(variables_, nullptr);
  }
  std::string on_stack(const std::string& tag) {
    const auto found = variables_->on_stack(pc(), marks_[tag]);
    return found ? found->name : "";
  }
  std::string through(const std::string& tag, std::uint16_t delta) {
    const PlumbAlias alias{0, PLUMB_ALIAS_IN_MEMORY, delta, static_cast<std::int32_t>(marks_[tag])};
    const auto found = variables_->through(pc(), alias);
    return found ? found->name : "";
  }
  std::uint64_t pc() { return static_cast<std::uint64_t>(marks_["pc"]); }

  Workshop shop_;
  std::map<std::string, std::int64_t> marks_;
  std::optional<Symboliser> symbols_;
  Variables* variables_ = nullptr;
};

TEST_P(VariablesOf, NamesGlobalsWithTheWayToTheWord) {
  const auto text = variables_->globals().at(static_cast<std::uint64_t>(marks_["global"]));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->name, "g_whole.parts[2].as.text");
  EXPECT_EQ(text->storage, "global");
  EXPECT_EQ(variables_->globals().at(static_cast<std::uint64_t>(marks_["plain"]))->name,
            "g_whole.name");
  EXPECT_FALSE(variables_->globals().at(1));
}

TEST_P(VariablesOf, NamesThreadLocals) {
  const auto name = variables_->globals().in_thread_at(marks_["thread"]);
  ASSERT_TRUE(name);
  EXPECT_EQ(name->name, "t_name");
  EXPECT_EQ(name->storage, "thread");
}

TEST_P(VariablesOf, NamesWordsOfTheFrame) {
  EXPECT_EQ(on_stack("local"), "local");
  EXPECT_EQ(on_stack("own"), "own.parts[1].as.text");
  EXPECT_EQ(variables_->on_stack(pc(), marks_["whole"])->storage, "parameter");
  EXPECT_FALSE(variables_->on_stack(pc(), 100'000));
}

TEST_P(VariablesOf, NamesWhatPointersLeadTo) {
  EXPECT_EQ(through("whole", 8), "whole->parts[0].as.text");
  EXPECT_EQ(through("whole", 48), "whole->name");
  EXPECT_EQ(through("whole", 0), "");  // no pointer is there
  EXPECT_EQ(through("out", 0), "*out");
  EXPECT_EQ(through("out", 24), "out[3]");
}

INSTANTIATE_TEST_SUITE_P(Compilers, VariablesOf, ::testing::Values("gcc", "clang-19"),
                         [](const auto& info) { return info.param.substr(0, 3); });

}  // namespace
}  // namespace plumb
