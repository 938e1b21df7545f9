// One translation unit to its model: clang makes LLVM IR, we keep what matters.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "check/model/unit.h"

namespace plumb::check {

struct CompileJob {
  std::string directory;               // where the command was run
  std::string file;                    // the source
  std::vector<std::string> arguments;  // the compiler's, without its name
};

// Compiles and lowers. An Error names the file and what the compiler said.
Result<Unit> compile_unit(const CompileJob& job);

// A file of LLVM bitcode or IR.
Result<Unit> read_bitcode(const std::string& path);

}  // namespace plumb::check
