// Words of a command line to options and the rest.
//
// CLI11 does the parsing, from an App made of the table's rows; it is not
// asked to know values or file names, so that every message about them is
// made here, from the table, and names the nearest right thing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/options.h"
#include "driver/settings.h"

namespace plumb {

struct CommandLine {
  std::map<Opt, std::vector<std::string>> options;  // values as typed; "true" for a flag
  std::vector<std::string> words;                   // what is not an option, in order
  std::vector<std::string> build;                   // check: what follows --
};

// What stands before the command: `words` is the command and all after it.
Result<CommandLine> parse_global(const std::vector<std::string>& arguments);

// What stands after the command. For `run` the options end at the program, for
// `check` at the build after `--`.
Result<CommandLine> parse_command(Command command, const std::vector<std::string>& arguments);

// The command of this name, or an Error with the nearest one.
Result<Command> command_named(std::string_view word);

// Checks what the command line gives and stores it.
Result<void> apply_command_line(const CommandLine& line, Settings& settings);

}  // namespace plumb
