#include "driver/live.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "driver/present.h"
#include "driver/screen.h"
#include "report/html.h"

namespace plumb {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShortest = 0.5;  // seconds between two looks

}  // namespace

LiveServer::LiveServer(Listening listening, std::string token, Report first, RenderOptions options)
    : listening_(std::move(listening)),
      token_(std::move(token)),
      report_(std::move(first)),
      options_(std::move(options)) {}

Result<LiveServer> LiveServer::open(const Settings& settings, Report first) {
  if (const Result<void> good = page_is_there(); !good) return std::unexpected(good.error());
  const Result<ServeAddress> address = serve_address(settings.text(Opt::serve));
  if (!address) return std::unexpected(address.error());
  Result<std::string> token = random_token();
  if (!token) return std::unexpected(token.error());
  Result<Listening> listening = Listening::at(*address);
  if (!listening) return std::unexpected(listening.error());
  // The address is the result, so that it is said even when --quiet is.
  (void)write_stream(STDERR_FILENO, fmt::format("plumb: the page is at http://{}/{}/\n",
                                                listening->authority(), *token));
  RenderOptions options = render_options(settings, -1);
  options.live = std::clamp(settings.seconds(Opt::interval), kShortest, 60.0);
  return LiveServer(std::move(*listening), std::move(*token), std::move(first), std::move(options));
}

void LiveServer::serve(const std::function<Result<Report>()>& look,
                       const std::function<bool()>& goes_on) {
  plumb::serve(
      listening_, token_, [&](std::string_view path) { return answer(path, look); }, goes_on);
}

void LiveServer::show_last(Report report) {
  report_ = std::move(report);
  was_there_ = ended_ = true;
  ++stamp_;
}

Answer LiveServer::answer(std::string_view path, const std::function<Result<Report>()>& look) {
  const std::string_view query = path.substr(std::min(path.find('?'), path.size()));
  if (path.empty()) {
    renew(look);
    return {200, "text/html; charset=utf-8", write_html(report_, options_)};
  }
  if (!path.starts_with("data") || path.size() - query.size() != 4) {
    return {404, "text/plain; charset=utf-8", "nothing is here\n"};
  }
  renew(look);
  if (query == fmt::format("?have={}", stamp_)) return {204, "application/json", ""};
  return {200, "application/json",
          fmt::format("{{\"stamp\":{},\"ended\":{},\n{}}}", stamp_, ended_,
                      html_update(report_, options_))};
}

void LiveServer::renew(const std::function<Result<Report>()>& look) {
  const Clock::time_point now = Clock::now();
  if (now - asked_ < std::chrono::duration<double>(kShortest)) return;
  asked_ = now;
  Result<Report> report = look();
  // One that was just started does not answer yet.
  if (!report && (ended_ || !was_there_)) return;
  ended_ = !report;
  was_there_ = true;
  if (report) report_ = std::move(*report);
  ++stamp_;
}

}  // namespace plumb
