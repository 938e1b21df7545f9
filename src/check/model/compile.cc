#include "check/model/compile.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/find_program.h"
#include "base/paths.h"
#include "base/temporary_file.h"
#include "base/text.h"
#include "check/model/unit_file.h"

namespace plumb::check {

namespace {

// Source-level IR with scope ends and lines, whatever the build asked for; the
// plugin takes it before the first pass. The C library's headers have fortified
// and inline variants for optimised code; they would hide the functions we know.
// Old C that GCC compiles with a warning is an error to clang unless we say so.
const std::vector<std::string> kOurFlags = {
    "-O1", "-g", "-w", "-Wno-error", "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int", "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types", "-Wno-error=return-mismatch",
    "-U_FORTIFY_SOURCE", "-U__OPTIMIZE__", "-fno-builtin-malloc",
    // Says which class a virtual call goes through,
    // and which tables those derived from it have.
    "-Xclang", "-fwhole-program-vtables", "-Xclang", "-flto-unit", "-Qunused-arguments", "-c",
    "-emit-llvm", "-o", "/dev/null"};

// Options that clang refuses: those of another compiler, or of another target.
// Its message quotes them.
std::vector<std::string> refused_flags(std::string_view errors) {
  std::vector<std::string> out;
  for (const std::string_view line : split(errors, '\n')) {
    const bool about_option =
        line.find("unknown argument") != line.npos ||
        line.find("unsupported option") != line.npos ||
        line.find("unsupported argument") != line.npos || line.find("invalid value") != line.npos ||
        line.find("unknown target CPU") != line.npos || line.find("invalid argument") != line.npos;
    if (!about_option) continue;
    std::size_t from = line.find('\'');
    while (from != line.npos) {
      const std::size_t to = line.find('\'', from + 1);
      if (to == line.npos) break;
      out.emplace_back(line.substr(from + 1, to - from - 1));
      from = line.find('\'', to + 1);
    }
  }
  return out;
}

// Drops what was refused: "-fweird", or "-mtune=zz" for 'zz' or for '-mtune='.
bool drop_refused(std::vector<std::string>& arguments, const std::vector<std::string>& refused,
                  const std::string& source) {
  const std::size_t before = arguments.size();
  std::erase_if(arguments, [&](const std::string& word) {
    if (word == source || word.empty() || word[0] != '-') return false;
    return std::ranges::any_of(refused, [&](const std::string& quoted) {
      if (quoted.size() < 2) return false;
      return word == quoted || (quoted.back() == '=' && word.starts_with(quoted)) ||
             word.ends_with("=" + quoted);
    });
  });
  return arguments.size() != before;
}

constexpr int kAttempts = 4;  // each drops the flags that the one before was refused for

struct Ended {
  int status = 0;
  std::string errors;
};

// The plugin writes to `unit`, the preprocessor names what it enters in `headers`
// (a list of dependencies comes only at the end of a compilation, where the plugin
// does not let it get to).
Ended run(const std::vector<std::string>& command, const std::string& directory,
          const std::string& unit, const std::string& headers, const std::string& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_TRUNC, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::string variables[] = {"PLUMB_UNIT=" + unit, "CC_PRINT_HEADERS=1",
                             "CC_PRINT_HEADERS_FILE=" + headers};
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  for (char** entry = environ; *entry; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);
  pid_t pid = 0;
  Ended ended;
  const int failed =
      posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed) {
    ended = {-1, fmt::format("{}: {}", command[0], std::strerror(failed))};
  } else {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    ended.status = status;
    ended.errors = read_file(errors).value_or("");
  }
  return ended;
}

// What the compiler said first that is an error, in one line.
std::string first_error(std::string_view errors) {
  for (const std::string_view line : split(errors, '\n')) {
    if (line.find("error: ") != line.npos) return std::string(trim(line));
  }
  return std::string(trim(errors.substr(0, errors.find('\n'))));
}

// What the compiler read: the source, then each header once.
std::vector<std::string> files_read(const std::string& source, std::string_view headers) {
  std::vector<std::string> files{source};
  for (const std::string_view line : split(headers, '\n')) {
    if (!line.empty()) files.emplace_back(line);
  }
  std::ranges::sort(files.begin() + 1, files.end());
  const auto repeats = std::ranges::unique(files.begin() + 1, files.end());
  files.erase(repeats.begin(), repeats.end());
  return files;
}

}  // namespace

std::string compile_recipe() {
  std::string recipe;
  for (const std::string& flag : kOurFlags) recipe += flag + '\n';
  return recipe;
}

Result<Compiled> compile(const CompileJob& job) {
  std::error_code problem;
  if (!job.directory.empty() && !std::filesystem::is_directory(job.directory, problem)) {
    return fail(job.file, fmt::format("its folder {} is not there", job.directory),
                "the unit is skipped; the rest is analysed");
  }
  const Result<std::string> plugin = support_file("libplumb_lower.so");
  if (!plugin) return std::unexpected(plugin.error());
  const Result<std::string> compiler = find_clang(false);
  if (!compiler) return std::unexpected(compiler.error());
  const Result<TemporaryFile> output = TemporaryFile::create();
  if (!output) return std::unexpected(output.error());
  const Result<TemporaryFile> headers = TemporaryFile::create();
  if (!headers) return std::unexpected(headers.error());
  const Result<TemporaryFile> errors = TemporaryFile::create();
  if (!errors) return std::unexpected(errors.error());
  std::vector<std::string> arguments = job.arguments;
  Ended ended;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::vector<std::string> command{*compiler};
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.insert(command.end(), kOurFlags.begin(), kOurFlags.end());
    command.push_back("-fpass-plugin=" + *plugin);
    ended = run(command, job.directory, output->path(), headers->path(), errors->path());
    if (ended.status == 0 || !drop_refused(arguments, refused_flags(ended.errors), job.file)) break;
  }
  if (ended.status != 0) {
    return fail(job.file,
                fmt::format("does not compile with clang-19: {}", first_error(ended.errors)),
                "the unit is skipped; the rest is analysed");
  }
  Result<std::string> unit = read_file(output->path());
  if (!unit) return std::unexpected(unit.error());
  return Compiled{std::move(*unit), files_read(job.file, read_file(headers->path()).value_or(""))};
}

Result<Unit> compile_unit(const CompileJob& job) {
  const Result<Compiled> compiled = compile(job);
  if (!compiled) return std::unexpected(compiled.error());
  return parse_unit(compiled->unit, job.file);
}

}  // namespace plumb::check
