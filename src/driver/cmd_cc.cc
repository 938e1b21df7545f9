// plumb cc, plumb c++: clang 19 with the loss tracker built in.
//
// The process becomes the compiler; its status and output are clang's own.

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/find_program.h"
#include "base/paths.h"
#include "driver/command.h"
#include "driver/compile.h"
#include "driver/screen.h"

namespace plumb {

namespace {

Result<Toolchain> toolchain(bool cxx) {
  Result<std::string> compiler = find_clang(cxx);
  if (!compiler) return std::unexpected(compiler.error());
  Result<std::string> pass = support_file("libplumb_pass.so");
  if (!pass) return std::unexpected(pass.error());
  Result<std::string> runtime = support_file("libplumb_cc.so");
  if (!runtime) return std::unexpected(runtime.error());
  // Missed only by those who ask for them.
  return Toolchain{*compiler, *pass, *runtime,
                   support_file("libplumb_sampled_pass.so").value_or(""),
                   support_file("libplumb_watch.so").value_or("")};
}

}  // namespace

Result<Ending> command_cc(bool cxx, const std::vector<std::string>& arguments) {
  const Result<Toolchain> tools = toolchain(cxx);
  if (!tools) return std::unexpected(tools.error());
  const Result<CompilerCall> call = compiler_call(*tools, arguments);
  if (!call) return std::unexpected(call.error());
  if (!call->remark.empty()) {
    (void)write_stream(STDERR_FILENO, fmt::format("plumb: note: {}\n", call->remark));
  }
  // Not by an argument: clang reads options of plugins only when it loads them twice.
  if (call->stacks) setenv("PLUMB_PASS_STACKS", "1", 1);
  if (call->access) setenv("PLUMB_PASS_ACCESS", "1", 1);
  std::vector<char*> words;
  for (const std::string& word : call->words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(tools->compiler.c_str(), words.data());
  return fail(tools->compiler, fmt::format("cannot be run: {}", std::strerror(errno)));
}

}  // namespace plumb
