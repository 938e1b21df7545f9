#include "check/input/observe.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/paths.h"
#include "check/input/compile_command.h"

namespace plumb::check {

namespace {

constexpr std::string_view kRecordVariable = "PLUMB_OBSERVE=";
constexpr std::string_view kPreloadVariable = "LD_PRELOAD=";

std::vector<std::string> environment_for(const std::string& library, const std::string& records) {
  std::vector<std::string> out;
  std::string preload = std::string(kPreloadVariable) + library;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with(kPreloadVariable)) {
      preload += ':';
      preload += text.substr(kPreloadVariable.size());
    } else if (!text.starts_with(kRecordVariable)) {
      out.emplace_back(text);
    }
  }
  out.push_back(std::move(preload));
  out.push_back(std::string(kRecordVariable) + records);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::vector<CompileJob> jobs_of_records(std::string_view records) {
  std::vector<CompileJob> jobs;
  std::vector<std::string> words;
  while (!records.empty()) {
    const std::size_t end = records.find('\0');
    if (end == std::string_view::npos) break;
    const std::string_view word = records.substr(0, end);
    records.remove_prefix(end + 1);
    // An empty word of a command is noted as a single newline.
    if (!word.empty()) {
      words.emplace_back(word == "\n" ? "" : word);
      continue;
    }
    if (words.size() > 1) {
      const std::string directory = std::move(words.front());
      words.erase(words.begin());
      for (CompileJob& job : jobs_of_command(directory, words)) jobs.push_back(std::move(job));
    }
    words.clear();
  }
  return jobs;
}

Result<ObservedBuild> observe_build(const std::vector<std::string>& command) {
  const Result<std::string> library = preload_library("libplumb_observe.so");
  if (!library) return std::unexpected(library.error());
  char records[] = "/tmp/plumb-build-XXXXXX";
  const int file = mkstemp(records);
  if (file < 0) return fail("/tmp", std::strerror(errno), "a folder for temporary files is needed");
  close(file);

  std::vector<std::string> words = command;
  std::vector<std::string> environment = environment_for(*library, records);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, words[0].c_str(), nullptr, nullptr,
                                  pointers_to(words).data(), pointers_to(environment).data());
  if (failed) {
    unlink(records);
    return fail(words[0], std::strerror(failed), "the build was not started");
  }
  ObservedBuild out;
  while (waitpid(pid, &out.wait_status, 0) < 0 && errno == EINTR) {
  }
  const Result<std::string> text = read_file(records);
  unlink(records);
  if (!text) return std::unexpected(text.error());
  // A configure script compiles tests and removes them; they are not the program.
  for (CompileJob& job : without_repeats(jobs_of_records(*text))) {
    std::error_code problem;
    if (std::filesystem::exists(std::filesystem::path(job.directory) / job.file, problem)) {
      out.jobs.push_back(std::move(job));
    }
  }
  return out;
}

}  // namespace plumb::check
