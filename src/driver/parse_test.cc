#include "driver/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumb {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

Error error_of(Command command, const Words& words) {
  const Result<CommandLine> line = parse_command(command, words);
  EXPECT_FALSE(line);
  return line ? Error{} : line.error();
}

Error value_error(Command command, const Words& words) {
  const Result<CommandLine> line = parse_command(command, words);
  EXPECT_TRUE(line);
  Settings settings(command);
  const Result<void> applied = apply_command_line(*line, settings);
  EXPECT_FALSE(applied);
  return applied ? Error{} : applied.error();
}

TEST(Parse, OptionsInAllForms) {
  const Result<CommandLine> line =
      parse_command(Command::report,
                    {"-q", "--format=json", "a.json", "--output", "o.json", "-n5", "-", "b.json"});
  ASSERT_TRUE(line);
  EXPECT_THAT(line->words, ElementsAre("a.json", "-", "b.json"));
  EXPECT_THAT(line->options.at(Opt::quiet), ElementsAre("true"));
  EXPECT_THAT(line->options.at(Opt::format), ElementsAre("json"));
  EXPECT_THAT(line->options.at(Opt::output), ElementsAre("o.json"));
  EXPECT_THAT(line->options.at(Opt::limit), ElementsAre("5"));
}

TEST(Parse, TwoDashesEndTheOptions) {
  const Result<CommandLine> line = parse_command(Command::report, {"--", "--format=json"});
  ASSERT_TRUE(line);
  EXPECT_THAT(line->words, ElementsAre("--format=json"));
  EXPECT_TRUE(line->options.empty());
}

TEST(Parse, TheProgramsOptionsAreItsOwn) {
  const Result<CommandLine> line =
      parse_command(Command::run, {"--quiet", "./server", "--format=x", "-v", "--", "--kind"});
  ASSERT_TRUE(line);
  EXPECT_THAT(line->words, ElementsAre("./server", "--format=x", "-v", "--", "--kind"));
  EXPECT_EQ(line->options.size(), 1U);
}

TEST(Parse, TheProgramMayLookLikeAnOption) {
  const Result<CommandLine> line = parse_command(Command::run, {"--", "-odd", "--format"});
  ASSERT_TRUE(line);
  EXPECT_THAT(line->words, ElementsAre("-odd", "--format"));
}

TEST(Parse, UnknownOptionsNameTheNearest) {
  const Error error = error_of(Command::report, {"--formt=json", "a.json"});
  EXPECT_EQ(error.what, "`plumb report` has no option --formt");
  EXPECT_EQ(error.hint, "did you mean --format?");
}

TEST(Parse, UnknownOptionsBeforeTheProgram) {
  const Error error = error_of(Command::run, {"--quite", "./server"});
  EXPECT_EQ(error.what, "`plumb run` has no option --quite");
  EXPECT_EQ(error.hint, "did you mean --quiet?");
}

TEST(Parse, OptionsOfAnotherCommandSaySo) {
  EXPECT_EQ(error_of(Command::run, {"--kind=lost", "./server"}).what,
            "--kind is an option of `plumb report`, not of `plumb run`");
  EXPECT_EQ(
      error_of(Command::diff, {"--baseline=x", "a", "b"}).what,
      "--baseline is an option of `plumb check`, `plumb run`, `plumb watch` and `plumb report`, "
      "not of "
      "`plumb diff`");
  EXPECT_EQ(error_of(Command::report, {"--version"}).hint, "write `plumb --version`");
}

TEST(Parse, NearestOfAnotherCommand) {
  EXPECT_EQ(error_of(Command::doctor, {"--basline"}).hint,
            "--baseline is an option of `plumb check`, `plumb run`, `plumb watch` and `plumb "
            "report`");
}

TEST(Parse, LongNameWithOneDash) {
  EXPECT_EQ(error_of(Command::explain, {"-color"}).hint, "did you mean --color?");
}

TEST(Parse, UnknownShortOption) {
  EXPECT_EQ(error_of(Command::report, {"-Z"}).what, "`plumb report` has no option -Z");
}

TEST(Parse, MissingValues) {
  for (const Words& words :
       {Words{"--output"}, Words{"--output="}, Words{"a.json", "-o"}, Words{"--output", "--quiet"},
        Words{"--output", "--", "a.json"}, Words{"--output=", "a.json"}}) {
    const Error error = error_of(Command::report, words);
    EXPECT_EQ(error.what, "--output needs a value") << testing::PrintToString(words);
    EXPECT_EQ(error.hint, "write --output=FILE");
  }
}

TEST(Parse, AProgramsEmptyOptionIsNotOurs) {
  EXPECT_TRUE(parse_command(Command::run, {"./server", "--output="}));
  EXPECT_TRUE(parse_command(Command::run, {"--", "./server", "--output="}));
}

TEST(Parse, FlagsTakeNoValue) {
  EXPECT_EQ(error_of(Command::report, {"--quiet=yes"}).what, "--quiet takes no value");
}

TEST(Parse, RepeatedOptions) {
  const Error error = value_error(Command::report, {"--format=json", "--format=text"});
  EXPECT_EQ(error.what, "--format is given twice: 'json' and 'text'");

  const Result<CommandLine> same = parse_command(Command::report, {"-q", "-q", "-n1", "-n1"});
  ASSERT_TRUE(same);
  Settings settings(Command::report);
  EXPECT_TRUE(apply_command_line(*same, settings));
}

TEST(Parse, ListsAdd) {
  const Result<CommandLine> line = parse_command(
      Command::report, {"-s", "a", "--suppressions=b", "--kind=lost,stale", "--kind", "lost"});
  ASSERT_TRUE(line);
  Settings settings(Command::report);
  ASSERT_TRUE(apply_command_line(*line, settings));
  EXPECT_THAT(settings.list(Opt::suppressions), ElementsAre("a", "b"));
  EXPECT_THAT(settings.list(Opt::kind), ElementsAre("lost", "stale"));
}

TEST(Parse, BracketsAreNoLists) {
  const Result<CommandLine> line = parse_command(Command::report, {"--file=[ab],[c]"});
  ASSERT_TRUE(line);
  EXPECT_THAT(line->options.at(Opt::file), ElementsAre("[ab],[c]"));
}

TEST(Parse, BeforeTheCommand) {
  const Result<CommandLine> line = parse_global({"run", "--help"});
  ASSERT_TRUE(line);
  EXPECT_THAT(line->words, ElementsAre("run", "--help"));
  EXPECT_TRUE(line->options.empty());

  const Result<CommandLine> early = parse_global({"--format=json", "report", "x"});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().what, "--format stands before the command");
  EXPECT_EQ(early.error().hint, "write it after the command: plumb check --format=json ...");

  const Result<CommandLine> wrong = parse_global({"--versoin"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().hint, "did you mean --version?");
}

TEST(Parse, CommandNames) {
  EXPECT_EQ(command_named("doctor").value(), Command::doctor);
  EXPECT_EQ(command_named("reprot").error().hint, "did you mean `plumb report`?");
  EXPECT_EQ(command_named("zzzzzzzz").error().hint,
            "the commands are check, model, run, cc, watch, report, diff, explain, doctor");
}

}  // namespace
}  // namespace plumb
