#include "driver/help.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_flow.h"

namespace plumb {

namespace {

constexpr std::size_t kOptionColumn = 29;  // where the text of an option starts

std::string wrapped(std::string_view text, std::size_t first, std::size_t rest) {
  return Paragraph(first, rest).add(text).render(Page{.width = kHelpWidth});
}

std::string option_lines(const OptionSpec& option) {
  const std::string letter =
      option.letter != 0 ? fmt::format("-{}, ", option.letter) : std::string(4, ' ');
  const std::string head = fmt::format("  {}{}", letter, option_with_value(option));
  std::string help(option.help);
  if (const std::string phrase = default_phrase(option); !phrase.empty()) {
    help += fmt::format(" [{}]", phrase);
  }
  // A name too long for its column has its text on the next line.
  const std::string body = wrapped(help, kOptionColumn, kOptionColumn);
  if (head.size() + 1 >= kOptionColumn) return head + '\n' + body;
  return head + body.substr(head.size());
}

std::string option_section(std::string_view title, const std::vector<const OptionSpec*>& options) {
  if (options.empty()) return {};
  std::string text = fmt::format("\n{}:\n", title);
  for (const OptionSpec* option : options) text += option_lines(*option);
  return text;
}

}  // namespace

std::string option_with_value(const OptionSpec& option) {
  return option.takes_value() ? fmt::format("--{}={}", option.name, option.value_name)
                              : option.dashed();
}

std::string default_phrase(const OptionSpec& option) {
  if (!option.takes_value() || option.default_value.empty()) return {};
  return fmt::format("default: {}", option.default_value);
}

OptionGroups option_groups(Command command) {
  OptionGroups groups;
  for (const OptionSpec* option : options_of(command)) {
    if (option->hidden) continue;
    const bool own = commands_with(option->name).size() == 1;
    (own ? groups.own : groups.common).push_back(option);
  }
  return groups;
}

std::string overall_help() {
  std::string text =
      "plumb finds where C and C++ programs lose their memory.\n\n"
      "usage: plumb COMMAND [OPTIONS] ...\n\ncommands:\n";
  for (const CommandSpec& command : command_table()) {
    text += fmt::format("  {:<10}{}\n", name_of(command.command), command.summary);
  }
  text += "\noptions:\n";
  for (const Opt opt : {Opt::help, Opt::version}) {
    const OptionSpec& option = spec_of(opt);
    text += fmt::format("  -{}, {:<11}{}\n", option.letter, option.dashed(), option.help);
  }
  text +=
      "\n`plumb COMMAND --help` lists a command's options, `man plumb` has all of them.\n"
      "\nexample:\n  plumb run ./server\n";
  return text;
}

std::string command_help(Command command) {
  const CommandSpec& spec = spec_of(command);
  std::string text =
      wrapped(fmt::format("usage: plumb {} [OPTIONS] {}", name_of(command), spec.arguments), 0, 9);
  std::string_view rest = spec.description;
  while (!rest.empty()) {
    const std::size_t end = rest.find("\n\n");
    text += '\n' + wrapped(rest.substr(0, end), 0, 0);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  }
  const OptionGroups groups = option_groups(command);
  text += option_section("options of this command", groups.own);
  text += option_section("common options", groups.common);
  text += "\nexit status:\n" + wrapped(spec.status, 2, 2);
  text += "\nexample:\n";
  for (const std::string_view line : split(spec.example, '\n')) {
    text += fmt::format("  {}\n", line);
  }
  return text;
}

}  // namespace plumb
