#include "driver/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "driver/completion.h"
#include "driver/manual.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::Not;

void expect_fits(const std::string& text) {
  for (const std::string_view line : split(text, '\n')) {
    EXPECT_LE(line.size(), kHelpWidth) << line;
  }
}

TEST(Help, FitsOneScreenAndEndsWithAnExample) {
  const std::string text = overall_help();
  EXPECT_LE(split(text, '\n').size() - 1, 24U);
  expect_fits(text);
  EXPECT_THAT(text, testing::EndsWith("example:\n  plumb run ./server\n"));
  for (const std::string_view name : command_names()) EXPECT_THAT(text, HasSubstr(name));
  EXPECT_THAT(text, Not(HasSubstr("--dump")));
}

TEST(Help, ListsEachOptionOfTheCommand) {
  for (const auto& [command, name] : kNames<Command>) {
    const std::string text = command_help(command);
    SCOPED_TRACE(name);
    expect_fits(text);
    for (const OptionSpec* option : options_of(command)) {
      if (option->hidden) continue;
      EXPECT_THAT(text, HasSubstr(option_with_value(*option)));
    }
  }
  EXPECT_THAT(command_help(Command::run), Not(HasSubstr("--kind")));
}

TEST(Manual, HasAllOptionsOnce) {
  const std::string text = manual_page();
  EXPECT_THAT(text, testing::StartsWith(".TH PLUMB 1"));
  for (const OptionSpec& option : option_table()) {
    if (option.hidden || option.commands.empty()) continue;
    std::string name;
    for (const char c : option.name) name += c == '-' ? std::string("\\-") : std::string(1, c);
    EXPECT_THAT(text, HasSubstr("\\fB\\-\\-" + name + "\\fR")) << option.name;
  }
  EXPECT_THAT(text, Not(HasSubstr("\\-\\-dump")));
}

TEST(Completion, KnowsCommandsOptionsAndWords) {
  for (const std::string& text : {bash_completion(), zsh_completion(), fish_completion()}) {
    for (const std::string_view name : command_names()) EXPECT_THAT(text, HasSubstr(name));
    EXPECT_THAT(text, HasSubstr("gen-suppressions"));
    EXPECT_THAT(text, HasSubstr("text json sarif html junit folded pprof"));
    EXPECT_THAT(text, HasSubstr("holder-freed"));
    EXPECT_THAT(text, Not(HasSubstr("--dump")));
  }
}

}  // namespace
}  // namespace plumb
