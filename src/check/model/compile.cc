#include "check/model/compile.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/SourceMgr.h>

#include "base/file.h"
#include "base/text.h"
#include "check/model/lower.h"

extern char** environ;

namespace plumb::check {

namespace {

// Source-level IR: scope ends and types, but no optimisation, whatever the
// build asked for. Fortified functions would hide the ones we know.
const std::vector<std::string> kOurFlags = {"-O1",
                                            "-Xclang",
                                            "-disable-llvm-passes",
                                            "-g",
                                            "-w",
                                            "-Wno-error",
                                            "-U_FORTIFY_SOURCE",
                                            "-fno-builtin-malloc",
                                            "-Qunused-arguments",
                                            "-c",
                                            "-emit-llvm"};

// Of the build's flags, those that decide what the source means.
std::vector<std::string> kept_flags(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& flag = arguments[i];
    const bool takes_next = flag == "-o" || flag == "-MF" || flag == "-MT" || flag == "-MQ";
    if (takes_next) {
      ++i;
      continue;
    }
    if (flag == "-c" || flag == "-S" || flag == "-E" || flag.starts_with("-O") ||
        flag.starts_with("-g") || flag.starts_with("-M") || flag.starts_with("-W") ||
        flag.starts_with("-fsanitize") || flag.starts_with("-flto") || flag == "-pipe" ||
        flag.starts_with("-save-temps")) {
      continue;
    }
    kept.push_back(flag);
  }
  return kept;
}

struct Ended {
  int status = 0;
  std::string errors;
};

Ended run(const std::vector<std::string>& command, const std::string& directory) {
  char errors_name[] = "/tmp/plumb-check-XXXXXX";
  const int errors = mkstemp(errors_name);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  Ended ended;
  const int failed = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) {
    ended = {-1, fmt::format("{}: {}", command[0], std::strerror(failed))};
  } else {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    ended.status = status;
    ended.errors = read_file(errors_name).value_or("");
  }
  close(errors);
  unlink(errors_name);
  return ended;
}

}  // namespace

Result<Unit> read_bitcode(const std::string& path) {
  llvm::LLVMContext context;
  context.setDiscardValueNames(true);
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module = llvm::parseIRFile(path, diagnostic, context);
  if (!module) {
    return fail(path, "not LLVM IR that this build reads: " + diagnostic.getMessage().str(),
                "compile with clang-19 -emit-llvm");
  }
  return lower_module(*module);
}

Result<Unit> compile_unit(const CompileJob& job) {
  char output[] = "/tmp/plumb-check-XXXXXX.bc";
  const int file = mkstemps(output, 3);
  if (file < 0) return fail("/tmp", std::strerror(errno), "a folder for temporary files is needed");
  close(file);
  std::vector<std::string> command{"clang-19"};
  for (std::string& flag : kept_flags(job.arguments)) command.push_back(std::move(flag));
  command.insert(command.end(), kOurFlags.begin(), kOurFlags.end());
  command.push_back("-o");
  command.push_back(output);
  const Ended ended = run(command, job.directory);
  if (ended.status != 0) {
    unlink(output);
    const std::string_view first =
        trim(std::string_view(ended.errors).substr(0, ended.errors.find('\n')));
    return fail(job.file, fmt::format("does not compile with clang-19: {}", first),
                "the unit is skipped; the rest is analysed");
  }
  Result<Unit> unit = read_bitcode(output);
  unlink(output);
  return unit;
}

}  // namespace plumb::check
