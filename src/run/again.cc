#include "run/again.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "run/wants.h"

namespace plumb {

namespace {

constexpr const char* kTool = "valgrind/plumb-amd64-linux";
// A second run that takes longer than this is not going to end: it waits for
// something that happened only once.
constexpr double kLeastLimit = 120;
constexpr double kSlowdown = 300;
constexpr int kInputWasRead = 86;  // as in runtime/valgrind/tool.cc

bool is_null_device(const struct stat& info) {
  return S_ISCHR(info.st_mode) && major(info.st_rdev) == 1 && minor(info.st_rdev) == 3;
}

}  // namespace

Result<std::string> valgrind_tool() {
  const Result<std::string> tool = support_file(kTool);
  if (!tool) return std::unexpected(tool.error());
  if (access(tool->c_str(), X_OK) != 0) return fail(*tool, "cannot be executed");
  const std::string folder = tool->substr(0, tool->find_last_of('/'));
  const std::string core = folder + "/vgpreload_core-amd64-linux.so";
  if (access(core.c_str(), R_OK) != 0) return fail(core, "is missing", "install plumb again");
  return folder;
}

Input::Input() {
  struct stat info{};
  if (fstat(STDIN_FILENO, &info) != 0 || is_null_device(info)) return;
  if (S_ISREG(info.st_mode)) {
    begin_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (begin_ >= 0) return;
  }
  gone_ = true;
}

void Input::note_end() {
  if (begin_ >= 0) end_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
}
void Input::rewind() const {
  if (begin_ >= 0) lseek(STDIN_FILENO, begin_, SEEK_SET);
}
void Input::restore() const {
  if (end_ >= 0) lseek(STDIN_FILENO, end_, SEEK_SET);
}

Result<Trace> look_again(Launch launch, const Trace& found, bool kept, const Input& input,
                         double first_seconds, int& wait_status) {
  Result<std::string> tool = valgrind_tool();
  if (!tool) return std::unexpected(tool.error());
  const Wants wants = wants_of(found, kept, scopes_of(found));
  if (wants.watched == 0) return fail({}, "what was not freed has no name to recognise it by");
  Result<TraceMemory> list = TraceMemory::with(wants.list);
  if (!list) return std::unexpected(list.error());
  Result<TraceMemory> memory = TraceMemory::create();
  if (!memory) return std::unexpected(memory.error());

  launch.tool_folder = *tool;
  launch.wants = list->fd();
  // Who stops it at the loss wants to see what it did until then.
  const bool by_hand = launch.on_leak == "stop" || launch.on_leak == "gdb";
  launch.quiet = !by_hand;
  launch.no_input = input.is_gone();
  launch.stack_depth = 1;  // the tool takes the stacks that matter
  launch.limit = by_hand ? 0 : std::max(kLeastLimit, kSlowdown * first_seconds);
  input.rewind();
  const Result<Ended> ended = launch_and_wait(launch, *memory);
  input.restore();
  if (!ended) return std::unexpected(ended.error());
  wait_status = ended->wait_status;
  if (ended->over_limit) {
    return fail({}, fmt::format("the second run was stopped after {:.0f} seconds", launch.limit),
                "plumb run --once does both in one run");
  }
  const Result<std::span<const std::byte>> bytes = memory->bytes();
  if (!bytes) return std::unexpected(bytes.error());
  Result<Trace> trace = read_trace(*bytes, "the second run's trace");
  if (trace && trace->phase == PLUMB_PHASE_DONE) return trace;
  if (launch.no_input && WIFEXITED(ended->wait_status) &&
      WEXITSTATUS(ended->wait_status) == kInputWasRead) {
    return fail({}, "the program read its standard input, which cannot be given to it twice",
                "give the input as a file (< FILE), or use plumb run --once");
  }
  if (!trace)
    return fail({}, "the second run did not come up under plumb's Valgrind tool",
                "plumb doctor checks the installation");
  return fail({}, "the second run ended before it could be asked",
              "plumb run --once does both in one run");
}

}  // namespace plumb
