#include "driver/progress.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "driver/screen.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::milliseconds(500);
constexpr auto kBeat = std::chrono::milliseconds(200);

void put(const std::string& text) { (void)!write(STDERR_FILENO, text.data(), text.size()); }

}  // namespace

Progress::Progress(const Settings& settings, const std::string& what) {
  if (settings.flag(Opt::quiet) || isatty(STDERR_FILENO) != 1) return;
  thread_ = std::thread([this, what = printable(what)]() mutable { draw(std::move(what)); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Progress::draw(std::string what) {
  const Clock::time_point start = Clock::now();
  // A line that wraps could not be erased.
  const std::size_t room = screen_of(STDERR_FILENO, "never").width - 10;
  what = shortened(what, room);
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kPatience, [this] { return done_; })) return;
  do {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start);
    put(fmt::format("\r{} {} s\x1b[K", what, seconds.count()));
  } while (!changed_.wait_for(lock, kBeat, [this] { return done_; }));
  put("\r\x1b[K");
}

}  // namespace plumb
