#include "driver/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/file.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

constexpr unsigned kNarrowest = 40;  // below it nothing can be laid out
constexpr unsigned kWidest = 1000;
constexpr unsigned kUsual = 80;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

std::optional<unsigned> columns_variable() {
  const std::string_view text = variable("COLUMNS");
  unsigned columns = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (problem != std::errc{} || end != text.data() + text.size() || columns == 0) {
    return std::nullopt;
  }
  return columns;
}

unsigned width_of(int stream, bool terminal) {
  unsigned width = kUsual;
  struct winsize size{};
  if (const std::optional<unsigned> columns = columns_variable()) {
    width = *columns;
  } else if (terminal && ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width = size.ws_col;
  }
  return std::min(std::max(width, kNarrowest), kWidest);
}

[[noreturn]] void end_by_broken_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  _exit(128 + SIGPIPE);  // the signal is blocked
}

}  // namespace

Screen screen_of(int stream, std::string_view when) {
  Screen screen;
  screen.terminal = isatty(stream) == 1;
  screen.width = width_of(stream, screen.terminal);
  if (when == "always") {
    screen.color = true;
  } else if (when == "auto") {
    screen.color = screen.terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  }
  return screen;
}

Result<void> write_stream(int stream, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(stream, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EPIPE && stream == STDOUT_FILENO) end_by_broken_pipe();
    if (put < 0) {
      return fail(stream == STDERR_FILENO ? "standard error" : "standard output",
                  fmt::format("cannot write: {}", std::strerror(errno)));
    }
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> deliver(const Settings& settings, int stream, std::string_view text) {
  const std::string path = settings.text(Opt::output);
  if (path.empty() || path == "-") return write_stream(stream, text);
  return write_file(path, text);
}

void note(const Settings& settings, std::string_view text) {
  if (settings.flag(Opt::quiet)) return;
  // Talk that nobody can read is no reason to fail.
  const std::string line = fmt::format("plumb: note: {}\n", printable(text));
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace plumb
