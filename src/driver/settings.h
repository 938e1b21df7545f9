// The values in force for one invocation, and where each came from.
//
// Lowest first: default, plumb.toml, PLUMB_OPTIONS (run only), command line.
// A value that is set replaces one from a lower origin as a whole, lists
// included. Everything stored has passed check_value, so the typed readers
// cannot fail.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/options.h"

namespace plumb {

enum class Origin { preset, file, environment, command_line };

class Settings {
 public:
  explicit Settings(Command command);

  Command command() const { return command_; }

  // Sets the values of an option; `place` says where they stand
  // ("plumb.toml:3"). Ignored when a higher origin has set the option.
  void set(const OptionSpec& option, std::vector<std::string> values, Origin origin,
           std::string place = {});

  // Options that exclude each other: an Error when the same origin sets both;
  // otherwise the lower origin gives way.
  Result<void> resolve_conflicts();

  bool has(Opt opt) const;         // has a value, be it the default
  bool is_default(Opt opt) const;  // nobody set it
  bool on_command_line(Opt opt) const;

  bool flag(Opt opt) const;
  std::uint64_t number(Opt opt) const;
  std::uint64_t size(Opt opt) const;
  double seconds(Opt opt) const;
  std::string text(Opt opt) const;  // empty when not set
  std::vector<std::string> list(Opt opt) const;

  // Each option of the command with its value, as plumb.toml has it, and the
  // origin as a comment: what --show-config prints.
  std::string describe() const;

 private:
  struct Value {
    std::vector<std::string> values;
    Origin origin = Origin::preset;
    std::string place;
  };
  const Value& value(Opt opt) const;

  Command command_;
  std::map<Opt, Value> values_;
};

}  // namespace plumb
