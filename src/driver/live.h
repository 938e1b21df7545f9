// `plumb watch --serve`: the page of a running program, renewed while one looks at
// it. The report is asked for when a page wants news, and at most once in a while;
// when the program is gone, the last report stays and the page says so.
//
// Not for several threads at a time; one may hand it to the next.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/report.h"
#include "driver/settings.h"
#include "report/format.h"
#include "serve/serve.h"

namespace plumb {

class LiveServer {
 public:
  // Listens where --serve says, and prints the page's address. `first` is shown
  // until there is news.
  static Result<LiveServer> open(const Settings& settings, Report first);

  // `look` gives the present report, or an Error when there is none (any more); it
  // is asked again, since a program may be restarted.
  void serve(const std::function<Result<Report>()>& look, const std::function<bool()>& goes_on);

  // The last report of a program that has ended.
  void show_last(Report report);

 private:
  LiveServer(Listening listening, std::string token, Report first, RenderOptions options);
  Answer answer(std::string_view path, const std::function<Result<Report>()>& look);
  void renew(const std::function<Result<Report>()>& look);

  Listening listening_;
  std::string token_;
  Report report_;
  RenderOptions options_;
  std::chrono::steady_clock::time_point asked_;
  std::uint64_t stamp_ = 1;
  bool was_there_ = false;
  bool ended_ = false;
};

}  // namespace plumb
