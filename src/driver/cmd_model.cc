// plumb model: one source to the file that `plumb check` analyses.
//
// Called as a compiler is, so that make, ninja and build farms can run it: what
// only preprocesses or prints goes to clang as it is.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/find_program.h"
#include "check/input/compile_command.h"
#include "check/model/compile.h"
#include "check/model/unit_file.h"
#include "driver/command.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

Result<Ending> become_clang(const std::vector<std::string>& arguments) {
  Result<std::string> compiler = find_clang(false);
  if (!compiler) return std::unexpected(compiler.error());
  std::vector<char*> words{compiler->data()};
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  return fail(*compiler, fmt::format("cannot be run: {}", std::strerror(errno)));
}

// "-o FILE" or "-oFILE"; empty without one.
std::string output_of(const std::vector<std::string>& arguments) {
  std::string output;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-o" && i + 1 < arguments.size()) {
      output = arguments[++i];
    } else if (arguments[i].starts_with("-o") && arguments[i].size() > 2) {
      output = arguments[i].substr(2);
    }
  }
  return output;
}

}  // namespace

Result<Ending> command_model(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    return fail({}, "no source is named", "plumb model -Iinclude a.c -o a.unit");
  }
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), "clang");
  std::error_code problem;
  const std::string here = std::filesystem::current_path(problem).string();
  const std::vector<check::CompileJob> jobs = check::jobs_of_command(here, words);
  if (jobs.empty()) return become_clang(arguments);
  const std::string output = output_of(arguments);
  if (!output.empty() && jobs.size() > 1) {
    return fail("-o " + printable(output), "is one file for several sources",
                "name one source, or leave out -o");
  }
  for (const check::CompileJob& job : jobs) {
    const Result<check::Compiled> compiled = check::compile(job);
    if (!compiled) return std::unexpected(compiled.error());
    const std::string beside =
        std::filesystem::path(job.file).filename().replace_extension(check::kUnitEnding).string();
    const Result<void> written = write_file(output.empty() ? beside : output, compiled->unit);
    if (!written) return std::unexpected(written.error());
  }
  return Ending{};
}

}  // namespace plumb
