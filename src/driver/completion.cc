#include "driver/completion.h"

#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/options.h"
#include "report/explain.h"

namespace plumb {

namespace {

std::vector<const OptionSpec*> visible_options(Command command) {
  std::vector<const OptionSpec*> options;
  for (const OptionSpec* option : options_of(command)) {
    if (!option->hidden) options.push_back(option);
  }
  return options;
}

// In single quotes, for each of the three shells.
std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string out;
  for (const char c : text) {
    if (c == what) {
      out += by;
    } else {
      out += c;
    }
  }
  return out;
}

std::string bash_option_words(Command command) {
  std::vector<std::string> words;
  for (const OptionSpec* option : visible_options(command)) {
    words.push_back(option->dashed() + (option->takes_value() ? "=" : ""));
    if (option->letter != 0) words.push_back(fmt::format("-{}", option->letter));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// The patterns of a `case` for an option: its long and its short form.
std::string bash_pattern(Command command, const OptionSpec& option) {
  std::string pattern = fmt::format("{}:{}", name_of(command), option.dashed());
  if (option.letter != 0) pattern += fmt::format("|{}:-{}", name_of(command), option.letter);
  return pattern;
}

std::string zsh_text(std::string_view text) {
  return replaced(replaced(replaced(replaced(text, '\'', "'\\''"), ':', "\\:"), '[', "\\["), ']',
                  "\\]");
}

std::string zsh_action(const OptionSpec& option) {
  switch (option.type) {
    case ValueType::flag:
      return {};
    case ValueType::file:
      return fmt::format(":{}:_files", option.value_name);
    case ValueType::directory:
      return fmt::format(":{}:_files -/", option.value_name);
    case ValueType::choice:
      return fmt::format(":{}:({})", option.value_name, fmt::join(option.choices, " "));
    case ValueType::choices:
      return fmt::format(":{0}:_values -s , {0} {1}", option.value_name,
                         fmt::join(option.choices, " "));
    default:
      return fmt::format(":{}: ", option.value_name);
  }
}

std::string zsh_spec(const OptionSpec& option) {
  const std::string help = zsh_text(option.help);
  const std::string action = zsh_action(option);
  std::string specs;
  const auto add = [&](std::string_view form) {
    specs +=
        fmt::format("        '{}{}[{}]{}' \\\n", option.repeatable ? "*" : "", form, help, action);
  };
  if (option.letter != 0) add(fmt::format("-{}{}", option.letter, option.takes_value() ? "+" : ""));
  add(option.dashed() + (option.takes_value() ? "=" : ""));
  return specs;
}

std::string fish_text(std::string_view text) {
  return replaced(replaced(text, '\\', "\\\\"), '\'', "\\'");
}

}  // namespace

std::string bash_completion() {
  std::string text =
      "# Completion of plumb for bash. Made by plumb from its table of options.\n\n"
      "_plumb() {\n"
      "    local cur=${COMP_WORDS[COMP_CWORD]} prev='' command='' i program=0\n"
      "    (( COMP_CWORD > 0 )) && prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "    COMPREPLY=()\n"
      "    for (( i = 1; i < COMP_CWORD; i++ )); do\n"
      "        if [[ -z $command ]]; then\n"
      "            [[ ${COMP_WORDS[i]} != -* ]] && command=${COMP_WORDS[i]}\n"
      "        elif [[ $command == run && ${COMP_WORDS[i]} != [-=]* &&\n"
      "                ${COMP_WORDS[i-1]} != = ]] || [[ ${COMP_WORDS[i]} == -- ]]; then\n"
      "            program=1\n"
      "        fi\n"
      "    done\n"
      "    if [[ -z $command ]]; then\n";
  text += fmt::format(
      "        COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\"))\n"
      "        return\n    fi\n",
      fmt::join(command_names(), " "));
  text +=
      "    if (( program )); then\n"
      "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
      "        return\n    fi\n"
      "    # \"--sort=by\" arrives as three words: --sort, =, by.\n"
      "    local option=''\n"
      "    if [[ $cur == = ]]; then\n        option=$prev; cur=''\n"
      "    elif [[ $prev == = ]]; then\n        option=${COMP_WORDS[COMP_CWORD-2]}\n"
      "    elif [[ $prev == -* ]]; then\n        option=$prev\n    fi\n"
      "    case $command:$option in\n";
  for (const auto& [command, name] : kNames<Command>) {
    for (const OptionSpec* option : visible_options(command)) {
      if (!option->takes_value()) continue;
      std::string action = "COMPREPLY=()";
      if (!option->choices.empty()) {
        action = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))",
                             fmt::join(option->choices, " "));
      } else if (option->type == ValueType::file) {
        action = "COMPREPLY=($(compgen -f -- \"$cur\"))";
      } else if (option->type == ValueType::directory) {
        action = "COMPREPLY=($(compgen -d -- \"$cur\"))";
      }
      text += fmt::format("        {}) {}; return ;;\n", bash_pattern(command, *option), action);
    }
  }
  text +=
      "    esac\n"
      "    if [[ $cur == -* ]]; then\n"
      "        case $command in\n";
  for (const auto& [command, name] : kNames<Command>) {
    text += fmt::format("            {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", name,
                        bash_option_words(command));
  }
  text +=
      "        esac\n"
      "        [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
      "        return\n    fi\n"
      "    case $command in\n"
      "        run) COMPREPLY=($(compgen -c -- \"$cur\") $(compgen -f -- \"$cur\")) ;;\n";
  text += fmt::format("        explain) COMPREPLY=($(compgen -W '{}' -- \"$cur\")\n",
                      fmt::join(explainable_words(), " "));
  text +=
      "                             $(compgen -f -- \"$cur\")) ;;\n"
      "        report|diff) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
      "    esac\n"
      "}\n\ncomplete -o filenames -F _plumb plumb\n";
  return text;
}

std::string zsh_completion() {
  std::string text =
      "#compdef plumb\n# Completion of plumb for zsh. Made by plumb from its table of options.\n\n"
      "_plumb() {\n"
      "  local curcontext=\"$curcontext\" state line\n"
      "  typeset -A opt_args\n"
      "  _arguments -C \\\n";
  for (const Opt opt : {Opt::help, Opt::version}) text += zsh_spec(spec_of(opt));
  text +=
      "        '1:command:->command' \\\n"
      "        '*::argument:->argument'\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands\n"
      "      commands=(\n";
  for (const CommandSpec& spec : command_table()) {
    text += fmt::format("        '{}:{}'\n", name_of(spec.command), zsh_text(spec.summary));
  }
  text +=
      "      )\n"
      "      _describe command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n";
  for (const auto& [command, name] : kNames<Command>) {
    text += fmt::format("      {})\n      _arguments -s \\\n", name);
    for (const OptionSpec* option : visible_options(command)) text += zsh_spec(*option);
    switch (command) {
      case Command::check:
        text += "        '*:source:_files' ;;\n";
        break;
      case Command::run:
      case Command::watch:
        text += "        '(-)1:program:_command_names -e' '*::argument:_normal' ;;\n";
        break;
      case Command::cc:
      case Command::model:
        text += "        '*:compiler argument:_files' ;;\n";
        break;
      case Command::report:
        text += "        '*:report:_files' ;;\n";
        break;
      case Command::diff:
        text += "        '1:old report:_files' '2:new report:_files' ;;\n";
        break;
      case Command::explain:
        text += fmt::format("        '1:word:({})' '2:report:_files' ;;\n",
                            fmt::join(explainable_words(), " "));
        break;
      case Command::doctor:
        text += "        && return ;;\n";
        break;
    }
  }
  text += "      esac ;;\n  esac\n}\n\n_plumb \"$@\"\n";
  return text;
}

std::string fish_completion() {
  std::string text =
      "# Completion of plumb for fish. Made by plumb from its table of options.\n\n"
      "complete -c plumb -n __fish_use_subcommand -f\n";
  for (const Opt opt : {Opt::help, Opt::version}) {
    const OptionSpec& option = spec_of(opt);
    text += fmt::format("complete -c plumb -n __fish_use_subcommand -s {} -l {} -d '{}'\n",
                        option.letter, option.name, fish_text(option.help));
  }
  for (const CommandSpec& spec : command_table()) {
    text += fmt::format("complete -c plumb -n __fish_use_subcommand -a {} -d '{}'\n",
                        name_of(spec.command), fish_text(spec.summary));
  }
  for (const auto& [command, name] : kNames<Command>) {
    const std::string condition = fmt::format("-n '__fish_seen_subcommand_from {}'", name);
    for (const OptionSpec* option : visible_options(command)) {
      text += fmt::format("complete -c plumb {}", condition);
      if (option->letter != 0) text += fmt::format(" -s {}", option->letter);
      text += fmt::format(" -l {}", option->name);
      if (!option->choices.empty()) {
        text += fmt::format(" -x -a '{}'", fmt::join(option->choices, " "));
      } else if (option->is_path()) {
        text += " -r -F";
      } else if (option->takes_value()) {
        text += " -x";
      }
      text += fmt::format(" -d '{}'\n", fish_text(option->help));
    }
    if (command == Command::explain) {
      text += fmt::format("complete -c plumb {} -a '{}'\n", condition,
                          fmt::join(explainable_words(), " "));
    }
    if (command == Command::doctor) text += fmt::format("complete -c plumb {} -f\n", condition);
  }
  return text;
}

}  // namespace plumb
