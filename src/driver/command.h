// What the commands share: how they are called and how they end.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "driver/settings.h"

namespace plumb {

inline constexpr int kNothingFound = 0;
inline constexpr int kFindings = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kUnfinished = 3;

struct Ending {
  int status = 0;
  int signal = 0;  // end by this signal instead, as the user's program did
};

struct Invocation {
  Settings settings;
  std::vector<std::string> words;  // what is not an option
  std::vector<std::string> build;  // check: the command after --
};

// The compilers take all words as they are.
Result<Ending> command_cc(bool cxx, const std::vector<std::string>& arguments);

// As a compiler is called, too: `plumb model a.c -o a.unit`.
Result<Ending> command_model(const std::vector<std::string>& arguments);

// An Error is wrong usage or unreadable input: status 2.
Result<Ending> command_check(const Invocation& call);
Result<Ending> command_run(const Invocation& call);
Result<Ending> command_watch(const Invocation& call);
Result<Ending> command_report(const Invocation& call);
Result<Ending> command_diff(const Invocation& call);
Result<Ending> command_explain(const Invocation& call);
Result<Ending> command_doctor(const Invocation& call);

}  // namespace plumb
