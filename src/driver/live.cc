#include "driver/live.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "driver/present.h"
#include "driver/screen.h"
#include "report/html.h"
#include "serve/serve.h"

namespace plumb {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShortest = 0.5;  // seconds between two looks

class LivePage {
 public:
  LivePage(const Settings& settings, Report first, const std::function<Result<Report>()>& look)
      : report_(std::move(first)), look_(look), options_(render_options(settings, -1)) {
    options_.live = std::clamp(settings.seconds(Opt::interval), kShortest, 60.0);
    asked_ = Clock::now();
  }

  Answer answer(std::string_view path) {
    const std::string_view query = path.substr(std::min(path.find('?'), path.size()));
    if (path.empty()) {
      renew();
      return {200, "text/html; charset=utf-8", write_html(report_, options_)};
    }
    if (!path.starts_with("data") || path.size() - query.size() != 4) {
      return {404, "text/plain; charset=utf-8", "nothing is here\n"};
    }
    renew();
    if (query == fmt::format("?have={}", stamp_)) return {204, "application/json", ""};
    return {200, "application/json",
            fmt::format("{{\"stamp\":{},\"ended\":{},\n{}}}", stamp_, ended_,
                        html_update(report_, options_))};
  }

 private:
  void renew() {
    const Clock::time_point now = Clock::now();
    if (now - asked_ < std::chrono::duration<double>(kShortest)) return;
    asked_ = now;
    Result<Report> report = look_();
    if (!report && ended_) return;
    ended_ = !report;
    if (report) report_ = std::move(*report);
    ++stamp_;
  }

  Report report_;
  const std::function<Result<Report>()>& look_;
  RenderOptions options_;
  Clock::time_point asked_;
  std::uint64_t stamp_ = 1;
  bool ended_ = false;
};

}  // namespace

Result<void> serve_live(const Settings& settings, Report first,
                        const std::function<Result<Report>()>& look) {
  const Result<ServeAddress> address = serve_address(settings.text(Opt::serve));
  if (!address) return std::unexpected(address.error());
  const Result<std::string> token = random_token();
  if (!token) return std::unexpected(token.error());
  LivePage page(settings, std::move(first), look);
  return serve(
      *address, *token, [&](std::string_view path) { return page.answer(path); },
      [&](const std::string& url) {
        // The address is the result, so that it is said even when --quiet is.
        (void)write_stream(STDERR_FILENO, fmt::format("plumb: the page is at {}\n", url));
      },
      [] { return true; });
}

}  // namespace plumb
