// From the words of `plumb cc` to the words for clang.
//
// Everything the caller wrote goes to clang unchanged and in its order; what is
// added stands before and after it, between marks that tell clang not to
// complain about what it has no use for. Nothing is added where it would make a
// difference that a build system could notice: without an input, for other
// machines, under a sanitizer that brings its own malloc.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace plumb {

enum class Level { minimal, partial, full, sampled };

struct Toolchain {
  std::string compiler;      // clang 19
  std::string pass;          // the plugin
  std::string runtime;       // the library
  std::string sampled_pass;  // the same two for -fplumb=sampled
  std::string sampled_runtime;
};

struct CompilerCall {
  std::vector<std::string> words;  // the compiler first
  std::string remark;              // for standard error, or empty
  bool stacks = false;             // the plugin is to call the runtime for each drop
  bool access = false;             // ... is to note each access
};

// `arguments` without `cc`. An Error for what cannot work.
Result<CompilerCall> compiler_call(const Toolchain& tools,
                                   const std::vector<std::string>& arguments);

}  // namespace plumb
