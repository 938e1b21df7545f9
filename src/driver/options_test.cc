#include "driver/options.h"

#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/values.h"

namespace plumb {
namespace {

TEST(Options, NoCommandHasANameOrLetterTwice) {
  for (const auto& [command, name] : kNames<Command>) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const OptionSpec* option : options_of(command)) {
      EXPECT_TRUE(names.insert(option->name).second) << name << " --" << option->name;
      if (option->letter != 0) {
        EXPECT_TRUE(letters.insert(option->letter).second) << name << " -" << option->letter;
      }
    }
  }
}

TEST(Options, EveryRowIsComplete) {
  for (const OptionSpec& option : option_table()) {
    SCOPED_TRACE(option.name);
    EXPECT_FALSE(option.help.empty());
    EXPECT_FALSE(option.help.ends_with('.'));
    EXPECT_EQ(option.takes_value(), !option.value_name.empty());
    const bool has_words = option.type == ValueType::choice || option.type == ValueType::choices;
    EXPECT_EQ(has_words, !option.choices.empty());
    if (!option.default_value.empty()) {
      EXPECT_TRUE(check_value(option, option.default_value, option.name));
    }
  }
}

TEST(Options, FindsTheRowOfTheCommand) {
  EXPECT_EQ(find_option(Command::report, "format")->opt, Opt::format);
  EXPECT_EQ(find_option(Command::diff, "format")->opt, Opt::plain_format);
  EXPECT_EQ(find_option(Command::explain, "format"), nullptr);
  EXPECT_EQ(find_option(Command::run, "kind"), nullptr);
  EXPECT_EQ(find_global_option("version")->opt, Opt::version);
  EXPECT_EQ(find_global_option("format"), nullptr);
}

TEST(Options, NamesTheCommandsThatHaveOne) {
  EXPECT_THAT(commands_with("kind"), testing::ElementsAre(Command::report));
  EXPECT_THAT(commands_with("baseline"),
              testing::ElementsAre(Command::check, Command::run, Command::watch, Command::report));
  EXPECT_THAT(commands_with("nothing"), testing::IsEmpty());
}

TEST(Values, AcceptWhatFits) {
  const std::pair<Opt, const char*> good[] = {
      {Opt::format, "sarif"}, {Opt::limit, "0"},           {Opt::error_exitcode, "255"},
      {Opt::min_size, "4k"},  {Opt::kind, "lost, stale"},  {Opt::file, "src/*"},
      {Opt::quiet, "true"},   {Opt::plain_format, "json"},
  };
  for (const auto& [opt, value] : good) {
    EXPECT_TRUE(check_value(spec_of(opt), value, "--x")) << value;
  }
}

TEST(Values, RefuseWhatDoesNotAndSayWhy) {
  struct Case {
    Opt opt;
    const char* value;
    const char* what;
    const char* hint;
  };
  const Case cases[] = {
      {Opt::format, "jsn", "--x: 'jsn' is none of text, json, sarif, html, junit, folded, pprof",
       "did you mean 'json'?"},
      {Opt::plain_format, "sarif", "--x: 'sarif' is none of text, json", ""},
      {Opt::kind, "lost,forgoten",
       "--x: 'forgoten' is none of lost, stale, forgotten, double-free, mismatched-free",
       "did you mean 'forgotten'?"},
      {Opt::kind, "lost,",
       "--x: '' is none of lost, stale, forgotten, double-free, mismatched-free", ""},
      {Opt::error_exitcode, "0", "--x: '0' is not a number from 1 to 255", ""},
      {Opt::error_exitcode, "256", "--x: '256' is not a number from 1 to 255", ""},
      {Opt::limit, "ten", "--x: 'ten' is not a number from 0 to 4294967295", ""},
      {Opt::limit, "-1", "--x: '-1' is not a number from 0 to 4294967295", ""},
      {Opt::limit, "99999999999999999999", nullptr, ""},
      {Opt::min_size, "4kk", "--x: '4kk' is not a size", "bytes, or with k, M or G: 512, 4k, 1M"},
      {Opt::output, "", "--x: the value is empty", "write --output=FILE"},
      {Opt::quiet, "yes", "--x: 'yes' is neither true nor false", ""},
  };
  for (const Case& wrong : cases) {
    SCOPED_TRACE(wrong.value);
    const Result<void> result = check_value(spec_of(wrong.opt), wrong.value, "--x");
    ASSERT_FALSE(result);
    if (wrong.what != nullptr) {
      EXPECT_EQ(result.error().what, wrong.what);
    }
    EXPECT_EQ(result.error().hint, wrong.hint);
  }
}

TEST(Values, NeutraliseWhatTheyQuote) {
  const Result<void> result = check_value(spec_of(Opt::format), "a\x1b[31m", "--format");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace plumb
