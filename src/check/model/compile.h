// One translation unit to its model: clang makes LLVM IR, our plugin in it (see
// lower/) keeps what matters.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "check/model/unit.h"

namespace plumb::check {

struct CompileJob {
  std::string directory;  // where the command was run
  std::string file;       // the source
  // What decides what the source means, and the source; no output, no -c.
  std::vector<std::string> arguments;
};

struct Compiled {
  std::string unit;                // a unit file's bytes
  std::vector<std::string> files;  // what the compiler read, as it names them
};

// Compiles and lowers. Options that clang does not know are left out. An Error
// names the file and what the compiler said.
Result<Compiled> compile(const CompileJob& job);
// What is added to each job's arguments: another recipe makes other units.
std::string compile_recipe();
Result<Unit> compile_unit(const CompileJob& job);

}  // namespace plumb::check
