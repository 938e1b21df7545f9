#include "driver/manual.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "driver/build_info.h"
#include "driver/config.h"
#include "driver/help.h"
#include "driver/options.h"
#include "driver/runtime_options.h"

namespace plumb {

namespace {

// Text of a line: roff's own characters lose their meaning, hyphens stay
// hyphens, and a control character cannot start it.
std::string escaped(std::string_view text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else if (c == '\'') {
      roff += "\\(aq";
    } else if (c == '`') {
      roff += "\\(ga";
    } else {
      roff += c;
    }
  }
  if (roff.starts_with('.')) roff.insert(0, "\\&");
  return roff;
}

std::string paragraphs(std::string_view text) {
  std::string roff;
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    roff += fmt::format(".PP\n{}\n", escaped(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
  return roff;
}

std::string option_entry(const OptionSpec& option) {
  std::string head;
  if (option.letter != 0) {
    head = fmt::format("\\fB\\-{}\\fR", option.letter);
    if (option.takes_value()) head += fmt::format(" \\fI{}\\fR", option.value_name);
    head += ", ";
  }
  head += fmt::format("\\fB\\-\\-{}\\fR", escaped(option.name));
  if (option.takes_value()) head += fmt::format("=\\fI{}\\fR", option.value_name);
  std::string text = escaped(option.help);
  if (const std::string phrase = default_phrase(option); !phrase.empty()) {
    text += fmt::format(" [{}]", escaped(phrase));
  }
  return fmt::format(".TP\n{}\n{}.\n", head, text);
}

// "run, report", "all commands"
std::string owners(const OptionSpec& option) {
  std::vector<std::string_view> names;
  for (const auto& [command, name] : kNames<Command>) {
    if (option.commands.has(command)) names.push_back(name);
  }
  if (names.size() == kNames<Command>.size()) return "all commands";
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string command_section(const CommandSpec& spec) {
  const std::string_view name = name_of(spec.command);
  std::string roff = fmt::format(".SS plumb {} [OPTIONS] {}\n", name, escaped(spec.arguments));
  roff += paragraphs(spec.description);
  for (const OptionSpec* option : option_groups(spec.command).own) roff += option_entry(*option);
  std::string common;
  for (const OptionSpec* option : option_groups(spec.command).common) {
    common += fmt::format("{}\\fB\\-\\-{}\\fR", common.empty() ? "" : ", ", escaped(option->name));
  }
  roff += fmt::format(".PP\nCommon options: {}.\n", common);
  roff += fmt::format(".PP\nExit status: {}\n", escaped(spec.status));
  roff += ".PP\n.nf\n.RS\n";
  for (const std::string_view line : split(spec.example, '\n')) roff += escaped(line) + '\n';
  roff += ".RE\n.fi\n";
  return roff;
}

}  // namespace

std::string manual_page() {
  std::string roff = fmt::format(
      ".TH PLUMB 1 \"\" \"plumb {}\" \"User Commands\"\n"
      ".SH NAME\nplumb \\- find where C and C++ programs lose their memory\n"
      ".SH SYNOPSIS\n",
      kPlumbVersion);
  bool first = true;
  for (const CommandSpec& spec : command_table()) {
    if (!first) roff += ".br\n";
    first = false;
    roff += fmt::format("\\fBplumb {}\\fR [\\fIOPTIONS\\fR] {}\n", name_of(spec.command),
                        escaped(spec.arguments));
  }
  roff += ".br\n\\fBplumb\\fR \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR\n.SH COMMANDS\n";
  for (const CommandSpec& spec : command_table()) roff += command_section(spec);
  roff += ".SH COMMON OPTIONS\nOptions that more than one command takes.\n";
  for (const OptionSpec& option : option_table()) {
    if (option.hidden || commands_with(option.name).size() < 2) continue;
    roff += option_entry(option) + fmt::format("({})\n", escaped(owners(option)));
  }
  roff += fmt::format(
      ".SH FILES\n.TP\n\\fI{}\\fR\n"
      "Defaults for a project, looked for in the working directory and above it. Keys are the "
      "names of options; those of one command stand in a table of its name. Paths in it are "
      "relative to it. The command line wins; \\fB\\-\\-show\\-config\\fR says where each value "
      "came from.\n",
      kConfigName);
  std::string keys;
  for (const OptionSpec* option : options_of(Command::run)) {
    if (option->runtime_key.empty()) continue;
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", escaped(option->runtime_key));
  }
  roff += fmt::format(
      ".SH ENVIRONMENT\n.TP\n\\fB{}\\fR\n"
      "Options for what runs, as \\fIkey\\fR=\\fIvalue\\fR:\\fIkey\\fR=\\fIvalue\\fR. The command "
      "line wins. Keys: {}.\n"
      ".TP\n\\fBNO_COLOR\\fR\nNo colours, unless \\fB\\-\\-color=always\\fR asks for them.\n"
      ".TP\n\\fBCOLUMNS\\fR\nThe width of the text, instead of the terminal\\(aqs.\n",
      kRuntimeVariable, keys);
  return roff;
}

}  // namespace plumb
