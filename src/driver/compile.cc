#include "driver/compile.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace plumb {

namespace {

// Options whose value is the next word.
constexpr auto kSeparate = std::to_array<std::string_view>(
    {"-o",      "-I",         "-L",       "-l",          "-D",
     "-U",      "-x",         "-include", "-imacros",    "-isystem",
     "-iquote", "-idirafter", "-iprefix", "-isysroot",   "--sysroot",
     "-MF",     "-MT",        "-MQ",      "-T",          "-u",
     "-z",      "-Xclang",    "-Xlinker", "-Xassembler", "-Xpreprocessor",
     "-mllvm",  "-target",    "--target", "-arch",       "-B",
     "-e",      "-rpath",     "--param",  "-aux-info",   "-G",
     "-A"});

// Sanitizers that bring a malloc of their own.
constexpr auto kOtherMalloc =
    std::to_array<std::string_view>({"address", "hwaddress", "leak", "memory", "thread"});

// Without these the optimiser treats malloc and free as its own and deletes what
// we are to see.
constexpr auto kPlain = std::to_array<const char*>(
    {"-fno-builtin-malloc", "-fno-builtin-calloc", "-fno-builtin-realloc", "-fno-builtin-free",
     "-fno-builtin-strdup", "-fno-builtin-strndup", "-fno-builtin-aligned_alloc",
     "-fno-builtin-memalign", "-fno-builtin-reallocarray"});

struct Wish {
  Level level = Level::full;
  bool stacks = false;
  bool access = false;
  bool has_input = false;
  bool links = true;
  bool relocatable = false;
  bool is_static = false;
  bool foreign = false;      // another machine
  std::string other_malloc;  // the sanitizer's flag
};

bool sanitizer_with_malloc(std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = value.find(',');
    if (std::ranges::find(kOtherMalloc, value.substr(0, comma)) != kOtherMalloc.end()) return true;
    value.remove_prefix(comma == std::string_view::npos ? value.size() : comma + 1);
  }
  return false;
}

std::optional<Level> level_named(std::string_view name) {
  if (name == "minimal") return Level::minimal;
  if (name == "partial") return Level::partial;
  if (name == "full") return Level::full;
  if (name == "sampled") return Level::sampled;
  return std::nullopt;
}

// "minimal", "stacks,access": false for what is none. What is added to `full` may be both.
bool read_level(std::string_view value, Wish& wish) {
  wish.level = Level::full;
  wish.stacks = wish.access = false;
  if (const std::optional<Level> level = level_named(value)) {
    wish.level = *level;
    return true;
  }
  while (true) {
    const std::size_t comma = value.find(',');
    const std::string_view part = value.substr(0, comma);
    if (part != "stacks" && part != "access") return false;
    (part == "stacks" ? wish.stacks : wish.access) = true;
    if (comma == std::string_view::npos) return true;
    value.remove_prefix(comma + 1);
  }
}

Result<Wish> read_wish(const std::vector<std::string>& arguments, std::vector<std::string>& rest) {
  Wish wish;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word.starts_with("-fplumb=")) {
      if (!read_level(word.substr(8), wish)) {
        return fail({}, fmt::format("no level '{}'", word.substr(8)),
                    "there are -fplumb=stacks, -fplumb=access, -fplumb=stacks,access, "
                    "-fplumb=full, -fplumb=partial, -fplumb=minimal and -fplumb=sampled");
      }
      continue;
    }
    rest.push_back(arguments[i]);
    if (std::ranges::find(kSeparate, word) != kSeparate.end()) {
      if (word == "-l") wish.has_input = true;
      if (i + 1 < arguments.size()) {
        ++i;
        rest.push_back(arguments[i]);
        if (word == "-target" || word == "--target") {
          wish.foreign = !arguments[i].starts_with("x86_64");
        }
      }
      continue;
    }
    if (!word.starts_with('-') || word == "-") {
      wish.has_input = true;  // a file, a response file or standard input
    } else if (word == "-c" || word == "-S" || word == "-E" || word == "-M" || word == "-MM" ||
               word == "-fsyntax-only" || word == "--precompile" || word == "-emit-ast" ||
               word.starts_with("--analyze")) {
      wish.links = false;
    } else if (word == "-r" || word == "--relocatable" || word == "-Wl,-r") {
      wish.relocatable = true;
    } else if (word == "-static" || word == "-static-pie" || word == "--static") {
      wish.is_static = true;
    } else if (word == "-m32" || word == "-mx32") {
      wish.foreign = true;
    } else if (word.starts_with("--target=")) {
      wish.foreign = !word.substr(9).starts_with("x86_64");
    } else if (word.starts_with("-fsanitize=") && sanitizer_with_malloc(word.substr(11))) {
      wish.other_malloc = word;
    } else if (word.starts_with("-l")) {
      wish.has_input = true;
    } else if (word == "-cc1" || word == "-cc1as") {
      return Wish{};  // clang calling itself
    }
  }
  return wish;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

std::vector<std::string> linked_with(const std::string& library) {
  return {"-Wl,--push-state,--no-as-needed", "-Wl," + library, "-Wl,--pop-state",
          "-Wl,-rpath," + folder_of(library)};
}

}  // namespace

Result<CompilerCall> compiler_call(const Toolchain& tools,
                                   const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  const Result<Wish> wish = read_wish(arguments, rest);
  if (!wish) return std::unexpected(wish.error());
  CompilerCall call;
  call.words = {tools.compiler};
  const bool plain = !wish->has_input || wish->foreign || !wish->other_malloc.empty();
  if (!wish->other_malloc.empty()) {
    call.remark =
        fmt::format("{} brings its own malloc: compiled without plumb", wish->other_malloc);
  }
  if (!plain && wish->links && wish->is_static) {
    return fail({}, "-static: plumb's runtime is a shared library",
                "link dynamically; parts of the program may still be static archives");
  }
  std::vector<std::string> before;
  std::vector<std::string> after;
  if (!plain && wish->level == Level::sampled) {
    if (tools.sampled_pass.empty() || tools.sampled_runtime.empty()) {
      return fail({}, "-fplumb=sampled: its plugin or runtime is not installed");
    }
    before.push_back("-fpass-plugin=" + tools.sampled_pass);
    if (wish->links && !wish->relocatable) after = linked_with(tools.sampled_runtime);
  } else if (!plain) {
    call.stacks = wish->stacks;
    call.access = wish->access;
    before.insert(before.end(), kPlain.begin(), kPlain.end());
    if (wish->level != Level::minimal) {
      before.push_back("-fpass-plugin=" + tools.pass);
      // Scopes end where they do in optimised code: the front end then says so.
      before.insert(before.end(), {"-Xclang", "-fsanitize-address-use-after-scope"});
    }
    if (wish->links && !wish->relocatable) {
      after = linked_with(tools.runtime);
      // What the program tracks unless PLUMB_OPTIONS says otherwise.
      if (wish->level == Level::minimal || wish->level == Level::partial) {
        after.push_back(wish->level == Level::minimal ? "-Wl,--defsym=__plumb_built_mode=1"
                                                      : "-Wl,--defsym=__plumb_built_mode=2");
      }
    }
  }
  const auto add = [&call](const std::vector<std::string>& words) {
    if (words.empty()) return;
    call.words.push_back("--start-no-unused-arguments");
    call.words.insert(call.words.end(), words.begin(), words.end());
    call.words.push_back("--end-no-unused-arguments");
  };
  add(before);
  call.words.insert(call.words.end(), rest.begin(), rest.end());
  add(after);
  return call;
}

}  // namespace plumb
