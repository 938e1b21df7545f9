// A compiler's command line as the units that it compiles.
//
// What decides what the source means is kept (macros, include paths, language,
// target); what decides how an object file is made is not. One command with
// several sources gives several jobs; one that only links, preprocesses or
// reads standard input gives none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "check/model/compile.h"

namespace plumb::check {

// "x86_64-linux-gnu-gcc-12", "clang++", "/usr/bin/cc" are.
bool is_compiler(std::string_view program);

// True for a name that the C and C++ compilers take as source by its ending.
bool is_source(std::string_view file);

// `words` is the whole command, the compiler first; launchers such as ccache
// are skipped. Response files (@FILE) are expanded.
std::vector<CompileJob> jobs_of_command(const std::string& directory,
                                        const std::vector<std::string>& words);

// The same units once: objects for a shared and for a static library differ in
// nothing that we look at. Keeps the order.
std::vector<CompileJob> without_repeats(std::vector<CompileJob> jobs);

// A command as a shell would split it; quotes and backslashes, no expansion.
std::vector<std::string> split_command(std::string_view text);

}  // namespace plumb::check
