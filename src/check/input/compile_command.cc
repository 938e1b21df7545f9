#include "check/input/compile_command.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_set>

#include "base/file.h"
#include "base/text.h"

namespace plumb::check {

namespace {

constexpr int kResponseDepth = 8;  // a response file that names itself ends here
constexpr std::size_t kResponseWords = 1'000'000;

// Options whose value is the next word; whether we keep both is decided below.
constexpr auto kTakesNext = std::to_array<std::string_view>(
    {"-o",        "-MF",       "-MT",       "-MQ",         "-I",
     "-D",        "-U",        "-L",        "-include",    "-imacros",
     "-x",        "-isystem",  "-iquote",   "-idirafter",  "-iprefix",
     "-isysroot", "-target",   "-Xlinker",  "-Xassembler", "-Xpreprocessor",
     "-Xclang",   "-T",        "-u",        "-z",          "-e",
     "--param",   "-aux-info", "-arch",     "-l",          "-MJ",
     "-dumpdir",  "-dumpbase", "--sysroot", "-mllvm",      "--target",
     "-B",        "-rpath",    "-G",        "-A"});

constexpr auto kDroppedWithNext = std::to_array<std::string_view>(
    {"-o",        "-MF",    "-MT", "-MQ",      "-MJ",         "-L",      "-T",        "-u",
     "-z",        "-e",     "-l",  "-Xlinker", "-Xassembler", "--param", "-aux-info", "-dumpdir",
     "-dumpbase", "-rpath", "-B",  "-G",       "-A",          "-mllvm"});

// These only say how to make the object, or talk about it.
constexpr auto kDroppedStarts = std::to_array<std::string_view>({"-O",
                                                                 "-g",
                                                                 "-M",
                                                                 "-W",
                                                                 "-l",
                                                                 "-L",
                                                                 "-fsanitize",
                                                                 "-flto",
                                                                 "-fno-lto",
                                                                 "-save-temps",
                                                                 "-fplugin",
                                                                 "-fprofile",
                                                                 "-ftest-coverage",
                                                                 "-fdiagnostics",
                                                                 "-fno-diagnostics",
                                                                 "-fstack-protector",
                                                                 "-specs",
                                                                 "--coverage",
                                                                 "-fdump",
                                                                 "-ffile-prefix-map",
                                                                 "-fdebug-prefix-map",
                                                                 "-fmacro-prefix-map",
                                                                 "-fcf-protection",
                                                                 "-fstack-clash"});
constexpr auto kDropped = std::to_array<std::string_view>(
    {"-c", "-S", "-pipe", "-s", "-w", "-v", "-static", "-shared", "-rdynamic", "-pg", "-no-pie",
     "-pie", "-nostartfiles", "-nodefaultlibs", "-nostdlib"});

// A precompiled header is of one compiler and its flags: the header itself is read.
// CMake passes "-Xclang -include-pch -Xclang FILE", and the header's name beside it.
std::size_t words_of_precompiled_header(const std::vector<std::string>& words, std::size_t at) {
  if (words[at] == "-include-pch") return 2;
  if (words[at] == "-Xclang" && at + 1 < words.size() && words[at + 1] == "-include-pch") return 4;
  return 0;
}

// The command does not compile for keeps.
constexpr auto kOnlyLooks =
    std::to_array<std::string_view>({"-E", "-M", "-MM", "-fsyntax-only", "--version",
                                     "-dumpversion", "-dumpmachine", "-###", "-cc1", "-cc1as"});

constexpr auto kLaunchers =
    std::to_array<std::string_view>({"ccache", "distcc", "icecc", "sccache", "nice", "time"});

template <std::size_t N>
bool among(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

template <std::size_t N>
bool starts_with_one(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::ranges::any_of(list, [&](std::string_view start) { return word.starts_with(start); });
}

std::string_view ending(std::string_view file) {
  const std::string_view name = base_name(file);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot);
}

// "x86_64-linux-gnu-g++-12" -> "g++".
std::string_view plain_name(std::string_view program) {
  std::string_view name = base_name(program);
  while (!name.empty()) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string_view::npos) break;
    const std::string_view tail = name.substr(dash + 1);
    const bool version = !tail.empty() && tail.find_first_not_of("0123456789.") == tail.npos;
    if (!version) return tail;
    name = name.substr(0, dash);
  }
  return name;
}

bool is_cxx_compiler(std::string_view program) { return plain_name(program).ends_with("++"); }

void expand(const std::string& directory, const std::vector<std::string>& words, int depth,
            std::vector<std::string>& out) {
  for (const std::string& word : words) {
    if (out.size() > kResponseWords) return;
    if (word.size() < 2 || word[0] != '@' || depth == 0) {
      out.push_back(word);
      continue;
    }
    const std::string path = (std::filesystem::path(directory) / word.substr(1)).string();
    const Result<std::string> text = read_file(path);
    if (!text) {
      out.push_back(word);
      continue;
    }
    expand(directory, split_command(*text), depth - 1, out);
  }
}

}  // namespace

bool is_compiler(std::string_view program) {
  constexpr auto kCompilers = std::to_array<std::string_view>(
      {"cc", "c++", "gcc", "g++", "clang", "clang++", "c89", "c99"});
  return among(kCompilers, plain_name(program));
}

bool is_source(std::string_view file) {
  constexpr auto kEndings = std::to_array<std::string_view>(
      {".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".CPP", ".cp", ".i", ".ii"});
  return among(kEndings, ending(file));
}

std::vector<std::string> split_command(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == quote) {
        quote = 0;
      } else if (c == '\\' && quote == '"' && i + 1 < text.size() &&
                 (text[i + 1] == '"' || text[i + 1] == '\\' || text[i + 1] == '$')) {
        word += text[++i];
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      if (text[++i] != '\n') {
        word += text[i];
        open = true;
      }
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

std::vector<CompileJob> jobs_of_command(const std::string& directory,
                                        const std::vector<std::string>& words) {
  std::size_t first = 0;
  while (first + 1 < words.size() && among(kLaunchers, base_name(words[first])) &&
         !is_compiler(words[first])) {
    ++first;
  }
  if (first >= words.size() || !is_compiler(words[first])) return {};
  std::vector<std::string> all;
  expand(directory, {words.begin() + static_cast<std::ptrdiff_t>(first) + 1, words.end()},
         kResponseDepth, all);

  std::vector<std::string> kept;
  std::vector<std::string> sources;
  bool language_given = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& word = all[i];
    if (among(kOnlyLooks, word)) return {};
    if (const std::size_t count = words_of_precompiled_header(all, i)) {
      i += count - 1;
      continue;
    }
    if (among(kTakesNext, word)) {
      if (i + 1 == all.size()) return {};
      ++i;
      if (word == "-x") language_given = all[i] != "none";
      if (among(kDroppedWithNext, word)) continue;
      kept.push_back(word);
      kept.push_back(all[i]);
      continue;
    }
    if (word.empty() || word[0] != '-') {
      if (is_source(word) || language_given) sources.push_back(word);
      continue;  // objects and libraries
    }
    if (word == "-") return {};
    if (word.starts_with("-Wp,-D") || word.starts_with("-Wp,-U") || word.starts_with("-Wp,-I")) {
      kept.push_back(word.substr(4));
      continue;
    }
    if (among(kDropped, word) || starts_with_one(kDroppedStarts, word)) continue;
    kept.push_back(word);
  }
  // g++ takes a .c file for C++; what clang-19 is told must say so.
  if (is_cxx_compiler(words[first]) && !language_given) {
    kept.emplace_back("-x");
    kept.emplace_back("c++");
  }
  std::vector<CompileJob> jobs;
  for (const std::string& source : sources) {
    CompileJob job{directory, source, kept};
    job.arguments.push_back(source);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

namespace {

// Words that tell the objects of a static library from those of a shared one.
// CMake defines NAME_EXPORTS for the latter.
bool tells_only_the_library(std::string_view word) {
  return word == "-fPIC" || word == "-fpic" || word == "-fPIE" || word == "-fpie" ||
         word == "-DPIC" || (word.starts_with("-D") && word.ends_with("_EXPORTS"));
}

}  // namespace

std::vector<CompileJob> without_repeats(std::vector<CompileJob> jobs) {
  std::unordered_set<std::string> seen;
  std::vector<CompileJob> kept;
  for (CompileJob& job : jobs) {
    std::string key = (std::filesystem::path(job.directory) / job.file).lexically_normal().string();
    for (const std::string& word : job.arguments) {
      if (word == job.file || tells_only_the_library(word)) continue;
      key += '\0';
      key += word;
    }
    if (seen.insert(std::move(key)).second) kept.push_back(std::move(job));
  }
  return kept;
}

}  // namespace plumb::check
